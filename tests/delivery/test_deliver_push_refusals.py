"""One refused device says nothing of the others; a wave of refusals says something of our settings.

FCM's real adapter, from the queue to a stand-in that speaks as Google's documents.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from notifications.core import clock
from notifications.core.delivery import deliver, routing
from notifications.core.models import Alert, Attempt, Contact, DeadLetter, Delivery, ProviderRoute
from notifications.core.rules.rate_limits.circuit_breaker import BreakerOverride
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import OPEN, Status
from notifications.core.store.cached import provider_overrides
from notifications.core.store.rate_limits import circuit_breakers
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
from tests.store.ageing import age

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
        provider_overrides.forget()
        yield server
    routing.forget()
    provider_overrides.forget()


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


class Wrong:
    """Answers of FCM that call some tokens those of another project."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = set(tokens)

    def __call__(self, token: str) -> ServerAnswer | None:
        wrong = fcm_error(403, "PERMISSION_DENIED", code="SENDER_ID_MISMATCH")
        return wrong if token.removeprefix("token-of-") in self.tokens else None


def ended() -> set[str]:
    users = Contact.objects.exclude(invalidated_at=None)
    return set(users.values_list("recipient__user_id", flat=True))


def test_a_service_account_of_another_project_ends_no_contact_and_pauses_after_three(
    reach: Reach, take: Accept, google: Google
) -> None:
    users = phones(reach, DEVICES)
    delivered(take, users[0])
    age(dt.timedelta(seconds=12))  # little traffic
    google.refusal = Wrong(*users)
    rows = [delivered(take, user) for user in users]
    assert ended() == set()
    assert [row.status for row in rows[:2]] == [Status.FAILED] * 2
    assert rows[2].reason == Reason.PROVIDER_MISCONFIGURED
    assert {Status(row.status) for row in rows[2:]} <= OPEN
    assert DeadLetter.objects.count() == 2
    assert "the contact stays" in Attempt.objects.get(delivery_id=rows[0].id).detail
    alerts = Alert.objects.filter(resolved_at=None)
    assert set(alerts.values_list("kind", flat=True)) == {"breaker_open", "refusals_not_believed"}
    assert "SENDER_ID_MISMATCH" in alerts.get(kind="breaker_open").detail


def test_much_traffic_ends_no_contact_either_and_pauses_after_ten(
    reach: Reach, take: Accept, google: Google
) -> None:
    users = phones(reach, DEVICES)
    delivered(take, users[0])
    google.refusal = Wrong(*users)
    rows = [delivered(take, user) for user in users]
    assert ended() == set()
    assert DeadLetter.objects.count() == 10
    assert {Status(row.status) for row in rows[10:]} <= OPEN


def test_a_token_of_another_project_ends_with_the_next_accepted_message(
    reach: Reach, take: Accept, google: Google
) -> None:
    good, bad, worse = phones(reach, 3)
    google.refusal = Wrong(bad, worse)
    for user in (bad, bad, worse, bad):
        delivered(take, user)
    assert ended() == set()
    assert not Alert.objects.filter(resolved_at=None).exists()
    assert delivered(take, good).status == Status.SENT
    assert ended() == {bad, worse}
    assert set(
        Contact.objects.exclude(invalidated_at=None).values_list("invalid_reason", flat=True)
    ) == {"fcm: SENDER_ID_MISMATCH"}


def test_a_contact_that_was_changed_after_the_refusal_stays(
    reach: Reach, take: Accept, google: Google
) -> None:
    good, bad = phones(reach, 2)
    google.refusal = Wrong(bad)
    delivered(take, bad)
    Contact.objects.filter(recipient__user_id=bad).update(changed_at=clock.now())
    delivered(take, good)
    assert ended() == set()


def test_a_device_without_the_app_ends_at_once(reach: Reach, take: Accept, google: Google) -> None:
    users = phones(reach, 1)
    google.refusal = lambda _token: fcm_error(404, "NOT_FOUND", code="UNREGISTERED")
    delivered(take, users[0])
    assert ended() == set(users)


def test_an_operator_who_ignores_failures_lets_suspects_end(
    reach: Reach, take: Accept, google: Google
) -> None:
    users = phones(reach, 5)
    google.refusal = Wrong(*users)
    circuit_breakers.force(("fcm", Channel.PUSH), BreakerOverride.CLOSED, by="tests")
    for user in users:
        delivered(take, user)
    assert ended() == set(users)
