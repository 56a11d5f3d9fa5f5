"""SES against the contract, with bulk calls and without, each request checked by botocore."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from providers import conformance
from providers.conformance import Subject
from providers.contract import Channel
from providers.email.mime import mailbox
from providers.email.ses import Config, Ses
from providers.transport import Transport
from tests.providers.aws.fakes import ACCOUNT, KEY_ID, SECRET, AwsFake, SesSpeaker


@pytest.fixture(params=[True, False], ids=["bulk", "single"])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with closing(AwsFake(SesSpeaker())) as server, closing(Transport()) as transport:
        sender = mailbox("Shop <no-reply@shop.example>")
        config = Config(from_=sender, endpoint=server.url, bulk=request.param, **ACCOUNT)  # type: ignore[arg-type] # texts
        yield Subject(
            provider=Ses(config, transport=transport),
            server=server,
            channel=Channel.EMAIL,
            address="maria@mailbox.example",
            secrets=[SECRET, KEY_ID],
        )


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_ses_keeps_the_contract(check: Callable[[Subject], None], subject: Subject) -> None:
    check(subject)
