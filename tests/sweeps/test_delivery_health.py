"""Failing providers and low delivery rates are alerts that end with their cause."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications import clock
from notifications.models import Alert
from notifications.rules.alerts import AlertKind
from notifications.rules.rate_limits.circuit_breaker import CallStats, HealthKey
from notifications.rules.states import Status
from notifications.store.rate_limits import circuit_breakers
from notifications.store.redis import state
from notifications.sweeps import delivery_health as sweep
from providers import status_pages
from providers.contract import Channel
from tests.store.stored_rows import MakeDelivery, make_delivery

__all__ = ["make_delivery"]
SANDBOX = HealthKey("sandbox", Channel.EMAIL)
LATER = dt.timedelta(minutes=7)


@pytest.fixture(autouse=True)
def _fresh(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    state.client().flushdb()
    circuit_breakers.forget()


def open_alerts(kind: AlertKind) -> dict[str, str]:
    rows = Alert.objects.filter(kind=kind, resolved_at=None)
    return dict(rows.values_list("subject", "detail"))


def look() -> int:
    return sweep.run_once(now=clock.now() + LATER, limit=1).moved


def test_rejected_and_failed_calls_make_a_provider_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_pages, "PAGES", {"sandbox": "https://status.example/"})
    circuit_breakers.record_calls({
        SANDBOX: CallStats(calls=24, accepted=10, rejected=8, unanswered=6)
    })
    assert look() == 1
    [(subject, detail)] = open_alerts(AlertKind.PROVIDER_FAILING).items()
    assert subject == "sandbox email"
    assert detail == (
        "58% of 24 calls in five minutes failed; status page: https://status.example/"
    )
    circuit_breakers.record_calls({SANDBOX: CallStats(calls=6, accepted=5, rejected=1)})
    assert look() == 1, "50 % of 30 calls end no alert"
    circuit_breakers.record_calls({SANDBOX: CallStats(calls=20, accepted=19, rejected=1)})
    assert look() == 0
    assert open_alerts(AlertKind.PROVIDER_FAILING) == {}


def test_calls_that_could_not_be_read_end_no_alert(monkeypatch: pytest.MonkeyPatch) -> None:
    circuit_breakers.record_calls({SANDBOX: CallStats(calls=24, accepted=10, rejected=14)})
    assert look() == 1
    monkeypatch.setattr(state._circuit, "rests_until", float("inf"))
    look()
    assert list(open_alerts(AlertKind.PROVIDER_FAILING)) == ["sandbox email"]


def test_few_failed_calls_are_silent() -> None:
    circuit_breakers.record_calls({SANDBOX: CallStats(calls=4, rejected=4)})
    assert look() == 0


def test_failed_deliveries_lower_the_rate_of_their_channel(make_delivery: MakeDelivery) -> None:
    good = [make_delivery(Status.DELIVERED) for _ in range(20)]
    for status in (*[Status.FAILED] * 4, Status.BOUNCED):
        make_delivery(status)
    make_delivery(Status.QUEUED)
    assert sweep.run_once(now=clock.now(), limit=1).moved == 0, "too early: retries go on"
    assert look() == 1
    assert open_alerts(AlertKind.DELIVERY_RATE_LOW) == {"email": "80.0% of 25 deliveries were sent"}
    later = clock.now() + 2 * LATER
    assert sweep.run_once(now=later, limit=1).moved == 0
    assert open_alerts(AlertKind.DELIVERY_RATE_LOW) == {}
    assert good
