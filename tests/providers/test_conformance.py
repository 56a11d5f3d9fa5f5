"""Every adapter against the one contract, each with a server of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from typing import ClassVar

import pytest

from providers import configuration, conformance
from providers.conformance import Act, Subject
from providers.contract import Channel
from providers.email.mime import mailbox
from providers.email.smtp import Config as SmtpConfig
from providers.email.smtp import Smtp, server_url
from providers.sandbox import Config as SandboxConfig
from providers.sandbox import Sandbox
from providers.sandbox_server.app import App
from providers.sandbox_server.ledger import Ledger
from providers.sandbox_server.wire import Connection
from providers.transport import Transport
from providers.webhook.standard import Config as WebhookConfig
from providers.webhook.standard import Webhook
from tests.providers.fakes import HttpFake, Listener, SmtpFake
from tests.providers.messages import SECRET


class SandboxServer:
    """The real sandbox server, steered by its own words."""

    retry_after: timedelta | None = timedelta(seconds=7)
    WORDS: ClassVar = {
        Act.ACCEPT: "",
        Act.REJECT: "400",
        Act.THROTTLE: "429.after-7s",
        Act.UNAVAILABLE: "503",
        Act.BAD_CREDENTIALS: "401",
        Act.CUT: "crash",
        Act.HANG: "hang",
    }

    def __init__(self) -> None:
        self.app = App(Ledger(), sender=None)
        self._listener = Listener(lambda: Connection(self.app.handle))
        self.url = f"http://127.0.0.1:{self._listener.port}"
        self.start, self.stop = self._listener.start, self._listener.stop
        self.close = self._listener.close

    @property
    def keys(self) -> list[str]:
        entries = self.app.ledger.select(equal={})
        calls = [call for entry in entries for call in entry["calls"]]
        return [c["idempotency_key"] for c in sorted(calls, key=lambda c: str(c["at"]))]

    def act(self, act: Act) -> None:
        self.app.steer[Channel.PUSH.label] = self.WORDS[act]


def sandbox_subject(transport: Transport) -> Iterator[Subject]:
    with closing(SandboxServer()) as server:
        config = SandboxConfig(url=server.url, secret=configuration.secrets(SECRET))
        yield Subject(
            provider=Sandbox(config, transport=transport),
            server=server,
            channel=Channel.PUSH,
            address="device-token-1",
            secrets=[SECRET],
        )


def webhook_subject(transport: Transport) -> Iterator[Subject]:
    with closing(HttpFake(key_header="webhook-id")) as server:
        config = WebhookConfig(secrets=configuration.secrets(SECRET), allow_private=True)
        yield Subject(
            provider=Webhook(config, transport=transport),
            server=server,
            channel=Channel.WEBHOOK,
            address=server.url,
            secrets=[SECRET],
        )


def smtp_subject(_transport: Transport) -> Iterator[Subject]:
    with closing(SmtpFake()) as server:
        config = SmtpConfig(
            url=server_url(f"smtp://127.0.0.1:{server.port}"),
            from_=mailbox("Shop <no-reply@shop.example>"),
        )
        with closing(Smtp(config)) as provider:
            yield Subject(
                provider=provider,
                server=server,
                channel=Channel.EMAIL,
                address="maria@mailbox.example",
            )


@pytest.fixture(params=[sandbox_subject, webhook_subject, smtp_subject])
def subject(request: pytest.FixtureRequest, transport: Transport) -> Iterator[Subject]:
    make: Callable[[Transport], Iterator[Subject]] = request.param
    yield from make(transport)


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_the_adapter_keeps_the_contract(check: Callable[[Subject], None], subject: Subject) -> None:
    check(subject)
