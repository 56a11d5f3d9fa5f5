"""What probes and dashboards are told."""

from __future__ import annotations

import datetime as dt
import pkgutil
import re

import pytest
import redis
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from notifications.core import broker, clock, migrations, server_faults, sweeps
from notifications.core.models import Alert, Delivery, Recipient, SweepRun
from notifications.core.rules import ids
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.rate_limits.circuit_breaker import CallStats, HealthKey
from notifications.core.store.postgres import (
    alerts,
    backlog,
    host_clock,
    sweep_runs,
    unapplied_migrations,
)
from notifications.core.store.rate_limits import circuit_breakers
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.servers.valkey import Valkey
from providers.contract import Channel
from tests.api.conftest import Caller


@pytest.fixture(autouse=True)
def _broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "probe", lambda: True)


def _tick(*, ago: dt.timedelta) -> None:
    SweepRun.objects.create(name="relay", started_at=clock.now() - ago)


def _ready() -> tuple[int, str, list[str]]:
    answer = Client().get("/readyz")
    said = answer.json()
    return answer.status_code, said["status"], said.get("wrong", [])


def test_a_living_process_says_so() -> None:
    assert Client().get("/healthz").json() == {"status": "ok"}


def test_a_process_has_started_when_it_has_reached_its_database() -> None:
    clock.watch(limit=dt.timedelta(seconds=2))
    try:
        answer = Client().get("/startupz")
        assert (answer.status_code, answer.json()["status"]) == (503, "starting")
        assert "refuses the sign-in" in answer.json()["wrong"][0]
        assert Client().get("/healthz").status_code == 200
        assert host_clock.compare()
        assert Client().get("/startupz").json() == {"status": "started"}
    finally:
        clock.forget()


@pytest.mark.parametrize("path", ["/healthz", "/startupz", "/readyz", "/metrics"])
def test_a_process_answers_probes_and_prometheus_by_its_ip_address(path: str) -> None:
    by_address = {"Host": "10.1.2.3:8000"}
    assert Client().get(path, headers=by_address).status_code == 200
    assert Client().get("/v1/me", headers=by_address).status_code == 400
    assert Client().get("/admin/login/", headers=by_address).status_code == 400


def test_all_is_well() -> None:
    _tick(ago=dt.timedelta(seconds=1))
    assert _ready() == (200, "ready", [])
    assert not Alert.objects.exists()


def test_a_dead_beat_is_seen_and_raises_one_alert() -> None:
    _tick(ago=dt.timedelta(minutes=3))
    for _ in range(2):
        status, word, [wrong] = _ready()
        assert (status, word) == (200, "degraded")
        assert re.search(r"18\d s ago", wrong)
    assert Alert.objects.get().kind == "beat_dead"


def test_a_sweep_that_begins_and_does_not_end_is_named_and_raises_an_alert_until_it_ends() -> None:
    _tick(ago=dt.timedelta(seconds=1))
    long_ago = clock.now() - dt.timedelta(minutes=5)
    assert sweep_runs.begin("release", every=dt.timedelta(seconds=1))
    assert _ready() == (200, "ready", [])
    SweepRun.objects.filter(name="release").update(running_since=long_ago, started_at=long_ago)
    assert sweep_runs.begin("release", every=dt.timedelta(seconds=1))  # the next run hangs as well
    status, word, [wrong] = _ready()
    assert (status, word) == (200, "degraded")
    assert re.fullmatch(r"release began 3\d\d s ago and has not ended", wrong)
    assert Alert.objects.get(resolved_at=None).kind == AlertKind.SWEEP_UNFINISHED
    SweepRun.objects.filter(name="release").update(started_at=long_ago)
    sweeps.run("release")
    assert _ready() == (200, "ready", [])
    assert not Alert.objects.filter(resolved_at=None).exists()


def test_a_beat_that_never_began_is_seen() -> None:
    assert _ready() == (200, "degraded", ["no sweep has ever run: start beat and a worker for ops"])


def test_a_broker_that_is_away_leaves_accepting_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    _tick(ago=dt.timedelta(seconds=1))
    monkeypatch.setattr(broker, "probe", lambda: False)
    status, word, [wrong] = _ready()
    assert (status, word) == (200, "degraded")
    assert "broker" in wrong


def test_without_a_database_nothing_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError

    monkeypatch.setattr(backlog, "of_lanes", away)
    monkeypatch.setattr(connection, "close", lambda: None)
    assert _ready()[:2] == (503, "unavailable")
    assert "notifications_database_up 0.0" in Client().get("/metrics").content.decode()


def test_a_lane_that_is_behind_is_named(
    caller: Caller, maria: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    _tick(ago=dt.timedelta(seconds=1))
    body = {
        "user_id": maria.user_id,
        "type": "SALE",
        "priority": "P3",
        "channels": ["email"],
        "content": {"body": "Sale"},
    }
    caller.post("/v1/notifications", body)
    before = clock.now() - dt.timedelta(seconds=20)
    Delivery.objects.update(due_at=before)
    assert _ready() == (200, "ready", [])  # its place in the queue is older than it is itself
    monkeypatch.setattr(ids, "time_of", lambda _id: before)
    [lane] = backlog.of_lanes()
    assert (lane.lane.name, lane.due) == ("p3.email", 1)
    assert _ready() == (200, "degraded", ["p3.email is behind"])
    told = Client().get("/metrics").content.decode()
    assert 'notifications_due{lane="p3.email"} 1.0' in told
    assert 'notifications_due{lane="p0.sms"} 0.0' in told


def test_a_paused_lane_and_unreachable_deliveries_are_named() -> None:
    alerts.raise_once(AlertKind.LANE_PAUSED, "p1.sms", "UndefinedColumn: quiet_hours")
    alerts.raise_once(AlertKind.DELIVERIES_UNREACHABLE, "", "1 deliveries: 4711 (claims)")
    _tick(ago=dt.timedelta(seconds=1))
    assert _ready() == (
        200,
        "degraded",
        [
            "no step takes 1 deliveries: 4711 (claims)",
            "p1.sms is paused: UndefinedColumn: quiet_hours",
        ],
    )


def _forget_migration(name: str) -> None:
    MigrationRecorder(connection).migration_qs.filter(app="notifications", name=name).delete()


def test_migrations_that_are_not_applied_are_named() -> None:
    _tick(ago=dt.timedelta(seconds=1))
    *_, last = sorted(each.name for each in pkgutil.iter_modules(migrations.__path__))
    _forget_migration(last)
    said = f"notifications.{last} is not applied: run `manage.py migrate`"
    expected = (200, "degraded", [said])
    if last == unapplied_migrations.FIRST:
        expected = (503, "unavailable", [])
    assert _ready() == expected


def test_a_database_without_tables_is_not_ready_and_says_how_to_make_them() -> None:
    _forget_migration(unapplied_migrations.FIRST)
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["database"] == "it has no tables: run `manage.py migrate`"


@pytest.mark.parametrize("name", ["state", "broker"])
def test_a_server_that_may_drop_keys_is_named(stack: Stack, name: str) -> None:
    _tick(ago=dt.timedelta(seconds=1))
    server: Valkey = getattr(stack, name)
    words = {"state": "the state Redis", "broker": "the broker"}
    with redis.Redis.from_url(server.url) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        try:
            said = _ready()
        finally:
            client.config_set("maxmemory-policy", "noeviction")
    wrong = f"{words[name]} may drop keys (maxmemory-policy=allkeys-lru): set it to noeviction"
    assert said == (200, "degraded", [wrong])
    assert _ready() == (200, "ready", [])


def test_a_server_that_does_not_tell_its_policy_is_not_blamed(stack: Stack) -> None:
    with redis.Redis.from_url(stack.state.url) as client:
        client.acl_setuser(
            "small", enabled=True, passwords=["+pw"], keys=["*"], categories=["+@all"]
        )
        client.acl_setuser("small", enabled=True, commands=["-info"])
        try:
            with redis.Redis(port=stack.state.port, username="small", password="pw") as limited:
                assert server_faults.eviction_policy(limited) == ""
        finally:
            client.acl_deluser("small")


def test_metrics_speak_prometheus() -> None:
    _tick(ago=dt.timedelta(seconds=1))
    answer = Client().get("/metrics", headers={"Accept": "text/plain;version=0.0.4;q=0.5"})
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    told = answer.content.decode()
    assert "notifications_database_up 1.0" in told
    assert 'notifications_sweep_age_seconds{sweep="relay"}' in told
    assert "process_resident_memory_bytes" in told


def test_a_provider_that_rests_is_told_and_measured() -> None:
    _tick(ago=dt.timedelta(seconds=1))
    fault = CallStats(fault="it refuses us: 401", faults=1, calls=1)
    circuit_breakers.record_calls({HealthKey("acme", Channel.PUSH): fault})
    assert _ready() == (200, "degraded", ["acme push is paused: it refuses us: 401"])
    text = Client().get("/metrics").content.decode()
    assert 'notifications_breaker_open{channel="push",provider="acme"} 1.0' in text
    assert (
        'notifications_breaker_events_total{channel="push",event="trip",provider="acme"} 1.0'
        in text
    )
