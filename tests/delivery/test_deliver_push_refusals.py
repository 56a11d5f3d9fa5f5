"""One refused device says nothing of the others; a wave of refusals says something of our settings.

FCM's real adapter, from the queue to a stand-in that speaks as Google's documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from notifications.delivery import deliver, routing
from notifications.models import Alert, Contact, DeadLetter, Delivery, ProviderRoute
from notifications.rules.states import Status
from providers import registry
from providers.conformance import Act
from providers.contract import Channel, Provider
from providers.push.fcm import Config, Fcm
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from providers.transport import Transport
from tests.certificate import make_certificate
from tests.journey import Accept, Reach, deliveries_of
from tests.providers.push.credentials import account
from tests.providers.push.vendors import FcmFake, fcm_error

DEVICES = 30


class Google(FcmFake):
    """Answers as `refusal` says for a token, and accepts the others."""

    refusal: Callable[[str], ServerAnswer | None] = staticmethod(lambda _token: None)

    def answer(self, act: Act, request: ServerRequest) -> ServerAnswer:
        token = orjson.loads(request.body)["message"]["token"]
        return self.refusal(token) or super().answer(act, request)


@dataclass(frozen=True)
class FcmVendor:
    """FCM at a stand-in's address, configured wherever the sandbox is."""

    url: str
    name: str = "fcm"
    settings: frozenset[str] = frozenset({"NOTIFY_SANDBOX_URL"})

    def configure(self, environ: Mapping[str, str], *, transport: Transport) -> Provider:
        del environ
        config = Config(credentials=account(self.url + "/token"), url=self.url)
        return Fcm(config, transport=transport)


@pytest.fixture
def google(outbox: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Google]:
    assert outbox  # its settings come first
    certificate = tmp_path / "localhost.pem"
    make_certificate(certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    others = tuple(each for each in registry.VENDORS if each.name != "fcm")
    with closing(Google(certificate=certificate)) as server, closing(Transport()) as transport:
        monkeypatch.setattr(registry, "VENDORS", (*others, FcmVendor(server.url)))
        usual = registry.build_all
        monkeypatch.setattr(
            registry, "build_all", lambda environ: usual(environ, transport=transport)
        )
        routing.forget()
        yield server
    routing.forget()


def delivered(take: Accept, user_id: str) -> Delivery:
    [row] = deliveries_of(take(channels=["push"], user_id=user_id))
    deliver.deliver([row.id])
    row.refresh_from_db()
    return row


def phones(reach: Reach, count: int) -> list[str]:
    names = [f"u{number}" for number in range(count)]
    for name in names:
        reach(name, push=f"token-of-{name}")
    Contact.objects.update(kind="fcm_token")
    ProviderRoute.objects.create(channel=Channel.PUSH, provider="fcm")
    return names


def test_an_iphone_without_its_key_stops_no_android(
    reach: Reach, take: Accept, google: Google
) -> None:
    users = phones(reach, 12)
    bad = fcm_error(401, "UNAUTHENTICATED", code="THIRD_PARTY_AUTH_ERROR")
    google.refusal = lambda token: bad if token == "token-of-u5" else None
    statuses = [delivered(take, user).status for user in users]
    assert statuses == [Status.SENT] * 5 + [Status.FAILED] + [Status.SENT] * 6
    assert Contact.objects.filter(invalidated_at=None).count() == len(users)
    assert not Alert.objects.filter(kind="provider_misconfigured").exists()


def test_a_service_account_of_another_project_does_not_empty_the_address_book(
    reach: Reach, take: Accept, google: Google
) -> None:
    users = phones(reach, DEVICES)
    wrong = fcm_error(403, "PERMISSION_DENIED", code="SENDER_ID_MISMATCH")
    google.refusal = lambda _token: wrong
    for user in users:
        delivered(take, user)
    killed = Contact.objects.exclude(invalidated_at=None).count()
    assert killed < DEVICES / 2
    assert DeadLetter.objects.count() < DEVICES / 2
    assert Alert.objects.filter(resolved_at=None).exists()
