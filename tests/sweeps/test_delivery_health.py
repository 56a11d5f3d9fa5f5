"""Failing providers and low delivery rates are alerts that end with their cause."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from notifications.core import clock, conf
from notifications.core.models import Alert
from notifications.core.rules.alert_thresholds import AlertThresholds
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.rate_limits.circuit_breaker import CallStats, HealthKey
from notifications.core.rules.states import Status
from notifications.core.rules.unanswered import CLOSE_AFTER, RECHECK_AFTER
from notifications.core.store.postgres import rollups
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.redis import state
from notifications.core.sweeps import delivery_health as sweep
from providers import registry
from providers.contract import Channel
from tests.figures.conftest import MakeRollup, make_rollup
from tests.store.stored_rows import MakeDelivery, make_delivery

__all__ = ["make_delivery", "make_rollup"]
SANDBOX = HealthKey("sandbox", Channel.EMAIL)
LATER = dt.timedelta(minutes=7)


@pytest.fixture(autouse=True)
def _fresh(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    state.client().flushdb()
    circuit_breakers.forget()


def open_alerts(kind: AlertKind) -> dict[str, str]:
    rows = Alert.objects.filter(kind=kind, resolved_at=None)
    return dict(rows.values_list("subject", "detail"))


def look(*, after: dt.timedelta = dt.timedelta()) -> int:
    return sweep.run_once(now=clock.now() + after, limit=1).moved


def test_rejected_and_failed_calls_make_a_provider_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "STATUS_PAGES", {"sandbox": "https://status.example/"})
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


def test_an_operators_threshold_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    thresholds = AlertThresholds(provider_failing=60.0)
    settings = replace(conf.current(), alert_thresholds=thresholds)
    monkeypatch.setattr(conf, "current", lambda: settings)
    circuit_breakers.record_calls({SANDBOX: CallStats(calls=24, accepted=10, rejected=14)})
    assert look() == 0


def test_calls_that_could_not_be_read_end_no_alert(monkeypatch: pytest.MonkeyPatch) -> None:
    circuit_breakers.record_calls({SANDBOX: CallStats(calls=24, accepted=10, rejected=14)})
    assert look() == 1
    monkeypatch.setattr(state._circuit, "rests_until", float("inf"))
    look()
    assert list(open_alerts(AlertKind.PROVIDER_FAILING)) == ["sandbox email"]


def test_few_failed_calls_are_silent() -> None:
    circuit_breakers.record_calls({SANDBOX: CallStats(calls=4, rejected=4)})
    assert look() == 0


def test_expired_sms_lower_the_rate_of_a_channel_with_little_traffic(
    make_rollup: MakeRollup,
) -> None:
    now = clock.now()
    make_rollup(now, {"sent": 260_000}, channel=Channel.PUSH)
    make_rollup(now, {"sent": 1_869})
    make_rollup(now, {"expired": 831}, reason="ttl_passed")
    assert look() == 1
    found = open_alerts(AlertKind.DELIVERY_RATE_LOW)
    assert found == {"sms": "69.2% of 2700 deliveries were sent"}
    assert look(after=LATER) == 0
    assert open_alerts(AlertKind.DELIVERY_RATE_LOW) == {}


def test_failed_and_returned_deliveries_lower_the_rate(make_rollup: MakeRollup) -> None:
    now = clock.now()
    make_rollup(now, {"sent": 22})
    make_rollup(now, {"failed": 3}, reason="permanent")
    make_rollup(now, {"failed": 1}, reason="receipt_failed")
    make_rollup(now, {"bounced": 1}, reason="receipt_bounced")
    assert look() == 1
    found = open_alerts(AlertKind.DELIVERY_RATE_LOW)
    assert found == {"sms": "80.0% of 25 deliveries were sent"}


def test_an_unanswered_call_lowers_the_rate_unless_the_message_is_sent_again(
    make_delivery: MakeDelivery,
) -> None:
    closes, resends = clock.now() + CLOSE_AFTER, clock.now() + RECHECK_AFTER
    for due_at in (*[closes] * 4, *[resends] * 4):
        make_delivery(Status.UNKNOWN, due_at=due_at)
    make_delivery(Status.UNKNOWN, due_at=closes - LATER)
    assert look() == 0, "four unanswered, one of them long ago, and four that are sent again"
    make_delivery(Status.UNKNOWN, due_at=closes)
    assert look() == 1
    found = open_alerts(AlertKind.DELIVERY_RATE_LOW)
    assert found == {"email": "0.0% of 5 deliveries were sent"}


def test_deliveries_that_expire_by_the_wish_of_a_person_lower_no_rate(
    make_rollup: MakeRollup,
) -> None:
    now = clock.now()
    make_rollup(now, {"sent": 10})
    for reason in ("ttl_passed_in_quiet_hours", "ttl_passed_while_paused"):
        make_rollup(now, {"expired": 30}, reason=reason)
    assert look() == 0


def test_late_roll_ups_end_no_alert_about_a_channel(
    make_rollup: MakeRollup, make_delivery: MakeDelivery
) -> None:
    make_rollup(clock.now(), {"failed": 9}, reason="permanent")
    rollups.count_next(limit=1)  # counting begins now
    assert look() == 1
    make_delivery(Status.DELIVERED)  # not counted
    assert look(after=LATER) == 1
    assert list(open_alerts(AlertKind.DELIVERY_RATE_LOW)) == ["sms"]
