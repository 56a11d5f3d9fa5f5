"""Alerts end with their cause even when nobody saw the end."""

from __future__ import annotations

import pytest

from notifications import clock
from notifications.models import Alert, BreakerEvent
from notifications.rules.breaker import HealthKey, Tally
from notifications.store import breakers, controls, state
from notifications.sweeps import breakers as sweep
from providers.contract import Channel

PUSH = HealthKey("acme", Channel.PUSH)
FAULT = Tally(fault="401", faults=1, calls=1)


@pytest.fixture(autouse=True)
def _fresh(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    state.client().flushdb()
    breakers.forget()
    controls.forget()


def _open_alerts() -> int:
    return Alert.objects.filter(resolved_at=None).count()


def test_an_alert_stays_while_its_breaker_is_open() -> None:
    breakers.report({PUSH: FAULT})
    assert sweep.run_once(now=clock.now(), limit=10).moved == 0
    assert _open_alerts() == 1


def test_an_alert_of_a_breaker_that_redis_lost_is_resolved() -> None:
    breakers.report({PUSH: FAULT})
    state.client().flushdb()
    assert sweep.run_once(now=clock.now(), limit=10).moved == 1
    assert _open_alerts() == 0


def test_events_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "_EVENTS_KEPT", 3)
    for number in range(8):
        BreakerEvent.objects.create(
            provider="acme", channel=Channel.PUSH, kind="probed", detail=str(number)
        )
    assert [sweep.run_once(now=clock.now(), limit=4).moved for _ in range(3)] == [4, 1, 0]
    assert [event.detail for event in BreakerEvent.objects.all()] == ["7", "6", "5"]
