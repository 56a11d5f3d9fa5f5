"""Alerts end with their cause even when nobody saw the end."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.db import OperationalError

from notifications.core import clock
from notifications.core.delivery import routing
from notifications.core.models import Alert, BreakerEvent
from notifications.core.rules.alerts import BEAT, GONE_AFTER, RENEWED, AlertKind, gone_after
from notifications.core.rules.outcomes import LONGEST_REFUSED_WAIT
from notifications.core.rules.rate_limits.circuit_breaker import CallStats, HealthKey, Probe
from notifications.core.store.cached import provider_overrides
from notifications.core.store.postgres import alerts
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.redis import state
from notifications.core.sweeps import breakers as sweep
from providers.contract import Channel
from providers.dry_run import DryRun

PUSH = HealthKey("acme", Channel.PUSH)
SECOND = dt.timedelta(seconds=1)
FAULT = CallStats(fault="401", faults=1, calls=1)


@pytest.fixture(autouse=True)
def _fresh(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    state.client().flushdb()
    circuit_breakers.forget()
    provider_overrides.forget()


def _open_alerts() -> int:
    return Alert.objects.filter(resolved_at=None).count()


def test_an_alert_stays_while_its_breaker_is_open() -> None:
    circuit_breakers.record_calls({PUSH: FAULT})
    assert sweep.run_once(now=clock.now(), limit=10).moved == 0
    assert _open_alerts() == 1


def test_an_alert_of_a_breaker_that_redis_lost_is_resolved() -> None:
    circuit_breakers.record_calls({PUSH: FAULT})
    state.client().flushdb()
    assert sweep.run_once(now=clock.now(), limit=10).moved == 1
    assert _open_alerts() == 0


@pytest.mark.parametrize("subject", ["acme pager", "acme", ""])
def test_an_alert_with_an_unknown_subject_leaves_the_others_alone(
    subject: str, log_output: Callable[[], str]
) -> None:
    circuit_breakers.record_calls({PUSH: FAULT})
    alerts.raise_once(AlertKind.BREAKER_OPEN, subject, "of another release")
    state.client().flushdb()
    assert sweep.run_once(now=clock.now(), limit=10).moved == 1
    assert Alert.objects.get(resolved_at=None).subject == subject
    lines = map(json.loads, log_output().splitlines())
    [entry] = [each for each in lines if each["event"] == "alert_subject_unknown"]
    assert entry["subject"] == subject


def test_a_breaker_that_opened_while_postgres_was_away_gets_its_alert(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away(*_arguments: object) -> None:
        raise OperationalError

    monkeypatch.setattr(routing, "providers_by_name", lambda: {"acme": DryRun()})
    with monkeypatch.context() as patch:
        patch.setattr(circuit_breakers, "_insert_event", away)
        circuit_breakers.record_calls({PUSH: FAULT})
    assert _open_alerts() == 0
    sweep.run_once(now=clock.now(), limit=10)
    [alert] = Alert.objects.filter(resolved_at=None)
    assert (alert.kind, alert.subject) == (AlertKind.BREAKER_OPEN, "acme push")
    assert alert.detail == "paused: 401"


def test_a_beat_that_lives_ends_its_alert() -> None:
    alerts.raise_once(AlertKind.BEAT_DEAD, BEAT, "it was dead")
    sweep.run_once(now=clock.now(), limit=10)
    assert _open_alerts() == 0


@pytest.mark.parametrize("kind", sorted(RENEWED))
def test_an_alert_that_nothing_renews_ends_by_itself(kind: AlertKind) -> None:
    alerts.raise_once(kind, "email", "no configured provider takes it")
    sweep.run_once(now=clock.now() + gone_after(kind) - SECOND, limit=10)
    assert _open_alerts() == 1
    sweep.run_once(now=clock.now() + gone_after(kind) + SECOND, limit=10)
    assert _open_alerts() == 0


def test_the_alert_about_refused_messages_stays_while_they_wait() -> None:
    assert gone_after(AlertKind.MESSAGES_REFUSED) > 2 * LONGEST_REFUSED_WAIT


@pytest.mark.parametrize(
    ("subject", "is_kept"),
    [
        ("acme push", True),
        ("acme email", False),
    ],
)
def test_an_open_breaker_keeps_the_alert_of_its_channel(subject: str, *, is_kept: bool) -> None:
    circuit_breakers.record_calls({PUSH: FAULT})
    alerts.raise_once(AlertKind.PROVIDER_MISCONFIGURED, subject, "it refused our credentials")
    sweep.run_once(now=clock.now() + GONE_AFTER + SECOND, limit=10)
    rows = Alert.objects.filter(kind=AlertKind.PROVIDER_MISCONFIGURED, resolved_at=None)
    assert rows.exists() is is_kept


def test_resting_endpoints_are_one_alert_while_they_last(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = DryRun()
    able = replace(hooks.capabilities, endpoint_of=str, channels=frozenset({Channel.WEBHOOK}))
    monkeypatch.setattr(DryRun, "capabilities", able)
    monkeypatch.setattr(routing, "providers_by_name", lambda: {"hooks": hooks})
    keys = [HealthKey("hooks", Channel.WEBHOOK, name) for name in ("one", "two")]
    circuit_breakers.record_calls(dict.fromkeys(keys, FAULT))
    sweep.run_once(now=clock.now(), limit=10)
    [alert] = Alert.objects.filter(resolved_at=None)
    assert (alert.kind, alert.detail) == (
        AlertKind.ENDPOINTS_REST,
        "2 paused endpoints; deliveries to them wait",
    )
    circuit_breakers.record_calls(
        dict.fromkeys(keys, CallStats(accepted=1, calls=1, probe=Probe.ACCEPTED))
    )
    sweep.run_once(now=clock.now(), limit=10)
    assert _open_alerts() == 0


def test_events_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "_EVENTS_KEPT", 3)
    for number in range(8):
        BreakerEvent.objects.create(
            provider="acme", channel=Channel.PUSH, kind="probed", detail=str(number)
        )
    assert [sweep.run_once(now=clock.now(), limit=4).moved for _ in range(3)] == [4, 1, 0]
    assert [event.detail for event in BreakerEvent.objects.all()] == ["7", "6", "5"]


def test_a_breaker_that_could_not_be_read_ends_no_alert(monkeypatch: pytest.MonkeyPatch) -> None:
    circuit_breakers.record_calls({PUSH: FAULT})
    alerts.raise_once(AlertKind.PROVIDER_MISCONFIGURED, PUSH.label, "401")
    Alert.objects.update(seen_at=clock.now() - 2 * GONE_AFTER)
    monkeypatch.setattr(state._circuit, "rests_until", float("inf"))
    assert sweep.run_once(now=clock.now(), limit=10).moved == 0
    assert _open_alerts() == 2
