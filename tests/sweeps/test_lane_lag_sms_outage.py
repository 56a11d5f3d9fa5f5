"""While every SMS provider is paused, P3 SMS wait behind a switch."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest

from notifications.core import clock
from notifications.core.delivery import routing
from notifications.core.models import Alert, Delivery, Switch
from notifications.core.operations import switches
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.rate_limits.circuit_breaker import CallStats, HealthKey, Probe
from notifications.core.rules.states import Status
from notifications.core.store.cached import provider_overrides
from notifications.core.store.cached import switches as cached
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.redis import state
from notifications.core.sweeps import lane_lag, publish_quota, release
from providers.contract import Channel
from providers.dry_run import DryRun
from tests.sweeps.conftest import MakeRow
from tests.vendors import Alias

_FAULT = CallStats(fault="it is down", faults=1, calls=1)
_SMS = {each: Lane(Mode.LIVE, each, Channel.SMS) for each in Priority}
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("broker")]


@pytest.fixture(autouse=True)
def _two_providers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    state.client().flushdb()
    circuit_breakers.forget()
    provider_overrides.forget()
    inner = DryRun()
    vendors = {
        name: Alias(name=name, inner=inner, capabilities=inner.capabilities)
        for name in ("one", "two")
    }
    monkeypatch.setattr(routing, "providers_by_name", lambda: vendors)
    monkeypatch.setattr(routing, "live_providers", lambda _channel: list(vendors.values()))
    yield
    circuit_breakers.forget()


def _trip(*names: str) -> None:
    for name in names:
        circuit_breakers.record_calls({HealthKey(name, Channel.SMS): _FAULT})


def _recover(name: str) -> None:
    answered = CallStats(probe=Probe.ANSWERED)
    circuit_breakers.record_calls({HealthKey(name, Channel.SMS): answered})


def _active() -> list[Switch]:
    return list(switches.active())


def test_one_provider_that_works_is_enough() -> None:
    _trip("one")
    lane_lag.pause_or_resume_sms()
    assert not _active()


def test_the_switch_is_set_once_and_resumed_at_the_recovery(make_row: MakeRow) -> None:
    _trip("one", "two")
    for _ in range(2):
        lane_lag.pause_or_resume_sms()
    [switch] = _active()
    assert (switch.kind, switch.value) == ("lane", "p3.sms")
    assert "All SMS providers are down" in switch.reason
    [alert] = Alert.objects.filter(kind=AlertKind.MARKETING_SMS_PAUSED, resolved_at=None)
    assert alert.subject == "p3.sms"
    row = make_row(
        Status.SCHEDULED,
        priority=Priority.P3,
        channel=Channel.SMS,
        switch_id=switch.pk,
        reason="channel_paused",
        due_at=clock.now() + dt.timedelta(hours=1),
    )
    _recover("two")
    lane_lag.pause_or_resume_sms()
    assert not _active()
    assert not Alert.objects.filter(kind=AlertKind.MARKETING_SMS_PAUSED, resolved_at=None).exists()
    release.run_once(now=clock.now(), limit=500)
    assert Delivery.objects.get(id=row).status == Status.QUEUED


def test_an_operator_may_resume_during_the_outage() -> None:
    _trip("one", "two")
    lane_lag.pause_or_resume_sms()
    switches.resume(switches.active(), by="maria")
    lane_lag.pause_or_resume_sms()
    assert not _active()
    _recover("one")
    lane_lag.pause_or_resume_sms()
    _trip("one")
    lane_lag.pause_or_resume_sms()
    assert len(_active()) == 1  # another outage


def test_p3_probe_when_no_other_delivery_did(monkeypatch: pytest.MonkeyPatch) -> None:
    _trip("one", "two")
    lane_lag.pause_or_resume_sms()
    later = clock.now() + lane_lag.PROBE_PATIENCE + dt.timedelta(minutes=1)
    with monkeypatch.context() as patched:
        patched.setattr(clock, "now", lambda: later)
        lane_lag.pause_or_resume_sms()
        assert not _active()
        assert Alert.objects.filter(kind=AlertKind.MARKETING_SMS_PAUSED, resolved_at=None).exists()
    lane_lag.pause_or_resume_sms()  # a failed probe has moved the next probe into the future
    assert len(_active()) == 1


def test_rows_behind_the_switch_go_to_workers_which_hold_them_and_p2_probes() -> None:
    _trip("one", "two")
    depths = {_SMS[Priority.P2]: 0, _SMS[Priority.P3]: 0}
    before = publish_quota.quotas(depths)
    assert all(quota <= 1 for quota in before.values())
    lane_lag.pause_or_resume_sms()
    cached.forget()
    after = publish_quota.quotas(depths)
    assert after[_SMS[Priority.P3]] > 1
    assert after.get(_SMS[Priority.P2], 0) <= 1


def test_breakers_that_could_not_be_read_end_no_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    _trip("one", "two")
    lane_lag.pause_or_resume_sms()
    monkeypatch.setattr(state._circuit, "rests_until", float("inf"))
    lane_lag.pause_or_resume_sms()
    assert len(_active()) == 1
