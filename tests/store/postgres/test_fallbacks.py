"""A process that works by a fallback is in the alerts, in /readyz and in the metrics."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.test import Client

from notifications.core import clock, conf
from notifications.core.models import Alert, SweepRun
from notifications.core.rules.alert_causes import OpenAlert, causes
from notifications.core.store import flight_recorder
from notifications.core.store.postgres import alerts, fallbacks
from notifications.core.store.postgres.fallbacks import FallbackWatch
from notifications.core.store.redis import state
from tests.providers.fakes import free_port

pytestmark = pytest.mark.django_db

UseState = Callable[[str], None]


@pytest.fixture
def use_state(monkeypatch: pytest.MonkeyPatch) -> Iterator[UseState]:
    """Return a function that points the process at another URL of the state Redis."""

    def use(url: str) -> None:
        other = replace(conf.current(), state_url=url)
        monkeypatch.setattr(conf, "current", lambda: other)
        state.forget()

    yield use
    monkeypatch.undo()
    state.forget()


def _url(**parts: str) -> str:
    known = urlsplit(conf.current().state_url)
    netloc = f":{parts.get('password', known.password)}@127.0.0.1:{parts.get('port', known.port)}"
    return known._replace(netloc=netloc).geturl()


def _told() -> list[tuple[str, str]]:
    return list(Alert.objects.filter(resolved_at=None).values_list("kind", "subject"))


def test_a_refused_sign_in_is_told_apart_from_a_server_that_is_away(
    use_state: UseState, later: Callable[[dt.timedelta], None]
) -> None:
    SweepRun.objects.create(name="relay", started_at=clock.now())
    for url, words in (
        (_url(password="wrong"), "the state Redis refuses the sign-in"),
        (_url(port=str(free_port())), "the state Redis does not answer"),
    ):
        use_state(url)
        watch = FallbackWatch("worker@host", [fallbacks.STATE])
        watch.look()
        later(fallbacks.PATIENCE)
        watch.look()
        assert _told() == [("state_away", "worker@host")]
        [row] = Alert.objects.filter(resolved_at=None)
        assert row.detail.startswith(words)
        assert url not in row.detail
        said = Client().get("/readyz").json()
        assert said["status"] == "degraded"
        assert f"worker@host: {row.detail}" in said["wrong"]
        told = Client().get("/metrics").content.decode()
        assert 'notifications_processes_without{server="state"} 1.0' in told
        assert 'notifications_processes_without{server="broker"} 0.0' in told


def test_a_short_interruption_is_no_alert_and_a_return_resolves_it(
    use_state: UseState, later: Callable[[dt.timedelta], None]
) -> None:
    right = _url()
    watch = FallbackWatch("worker@host", [fallbacks.STATE])
    use_state(_url(port=str(free_port())))
    watch.look()
    later(fallbacks.PATIENCE - dt.timedelta(seconds=1))
    watch.look()
    use_state(right)
    watch.look()
    assert _told() == []
    use_state(_url(port=str(free_port())))
    watch.look()
    later(fallbacks.PATIENCE)
    watch.look()
    assert _told() == [("state_away", "worker@host")]
    use_state(right)
    watch.look()
    assert _told() == []
    assert fallbacks.counts(now=clock.now()) == {
        "broker": 0,
        "state": 0,
        "flight_recorder": 0,
        "replica": 0,
    }


def test_the_alert_of_the_process_before_is_resolved_by_its_successor() -> None:
    alerts.raise_once(fallbacks.BROKER.kind, "worker@host", "from the process before")
    FallbackWatch("worker@host", [fallbacks.BROKER]).look()
    assert _told() == []


def test_a_process_that_ended_is_not_told_and_its_alert_ends_by_time() -> None:
    now = clock.now()
    alerts.raise_once(fallbacks.BROKER.kind, "worker@gone", "a process that was killed")
    assert fallbacks.counts(now=now)["broker"] == 1
    assert fallbacks.current(now=now + dt.timedelta(minutes=2)) == []
    assert alerts.resolve_gone(now=now + dt.timedelta(minutes=6), paused=()) == 1


def test_a_worker_that_takes_no_notes_of_its_calls_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, later: Callable[[dt.timedelta], None]
) -> None:
    (tmp_path / "file").touch()
    for chosen in (str(tmp_path / "file" / "flights"), "off", str(tmp_path / "flights")):
        other = replace(conf.current(), flight_recorder=chosen)
        with monkeypatch.context() as patched:
            patched.setattr(conf, "current", lambda other=other: other)
            flight_recorder.forget()
            watch = FallbackWatch("worker@host", [fallbacks.FLIGHTS])
            watch.look()
            later(fallbacks.PATIENCE)
            watch.look()
            is_told = _told() == [("flight_recorder_off", "worker@host")]
            assert is_told is ("file" in chosen)
            if is_told:
                [said] = fallbacks.current(now=clock.now())
                assert f"the flight recorder cannot use {chosen}: Not a directory" in said
                assert fallbacks.counts(now=clock.now())["flight_recorder"] == 1
            flight_recorder.forget()


def test_the_oldest_alert_of_many_processes_is_the_cause_of_the_others() -> None:
    kind = str(fallbacks.BROKER.kind)
    rows = [OpenAlert(number, kind, f"worker@{number}") for number in (7, 3, 5)]
    assert causes(rows) == {5: 3, 7: 3}
