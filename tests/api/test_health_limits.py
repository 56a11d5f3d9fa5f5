"""A probe and a scrape answer beside a frozen server or a locked table, and name the part."""

from __future__ import annotations

import contextlib
import datetime as dt
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psutil
import psycopg
import pytest
from django.db import connection
from django.test import Client

from notifications.core import clock
from notifications.core.api import metrics
from notifications.core.models import LaneLag, SweepRun
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import alerts, lane_lag, time_limit
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.servers.server import Server
from tests import redis_clients

pytestmark = pytest.mark.django_db(transaction=True)

_STUCK_SECONDS = 60.0
"""Only an answer without a time limit takes this long."""


@pytest.fixture
def answer() -> Iterator[Callable[[str], Any]]:
    """Return a function that returns the answer to GET; all in one thread with one session."""

    def get(path: str) -> Any:  # noqa: ANN401 - Django's response of tests
        return Client().get(path)

    with ThreadPoolExecutor(1) as thread:
        yield lambda path: thread.submit(get, path).result(_STUCK_SECONDS)
        thread.submit(_close).result(_STUCK_SECONDS)


def _close() -> None:
    connection.close()  # the proxy finds the session of the calling thread


@contextmanager
def _frozen(server: Server) -> Iterator[None]:
    _signal(server, signal.SIGSTOP)
    try:
        yield
    finally:
        _signal(server, signal.SIGCONT)


def _signal(server: Server, number: signal.Signals) -> None:
    """Send a signal to a server and to its processes: PostgreSQL has one for each session."""
    assert server.pid is not None
    for each in psutil.Process(server.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            each.send_signal(number)
    server.signal(number)


@pytest.mark.parametrize(
    ("name", "words"),
    [("state", "the state Redis is away: "), ("broker", "the broker does not answer: ")],
)
def test_readyz_names_a_frozen_broker_or_state_redis(
    name: str, words: str, stack: Stack, answer: Callable[[str], Any]
) -> None:
    server: Server = getattr(stack, name)
    SweepRun.objects.create(name="relay", started_at=clock.now())
    assert answer("/readyz").json()["status"] == "ready"
    with redis_clients.product_timeouts(), _frozen(server):
        told = answer("/readyz")
    assert (told.status_code, told.json()["status"]) == (200, "degraded")
    [said] = [line for line in told.json()["wrong"] if line.startswith(words)]
    until(lambda: said not in answer("/readyz").json()["wrong"], what="the server is back")


def test_readyz_names_a_part_that_is_not_read_in_time_and_tells_the_others(
    answer: Callable[[str], Any],
) -> None:
    alerts.raise_once(AlertKind.LANE_PAUSED, "p1.sms", "UndefinedColumn: quiet_hours")
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute(f"LOCK TABLE {LaneLag._meta.db_table} IN ACCESS EXCLUSIVE MODE")
        told = answer("/readyz")
    assert (told.status_code, told.json()["status"]) == (200, "degraded")
    assert told.json()["database"] == "partly read"
    assert "p1.sms is paused: UndefinedColumn: quiet_hours" in told.json()["wrong"]
    assert "the lanes: not read within 2 s, look for locks in the database" in told.json()["wrong"]
    assert answer("/readyz").json()["database"] == "ok"


def test_readyz_names_a_part_whose_table_is_of_another_release(
    answer: Callable[[str], Any],
) -> None:
    table = LaneLag._meta.db_table
    with connection.cursor() as running:
        running.execute(f"ALTER TABLE {table} RENAME TO of_another_release")
        try:
            told = answer("/readyz")
        finally:
            running.execute(f"ALTER TABLE of_another_release RENAME TO {table}")
    assert told.status_code == 200
    assert "the lanes: not read, its table is of another release" in told.json()["wrong"]


def test_readyz_answers_while_the_database_freezes_during_its_reads(
    stack: Stack, answer: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    true = lane_lag.newest

    def freeze(**named: dt.datetime) -> list[lane_lag.Lag]:
        _signal(stack.postgres, signal.SIGSTOP)
        return true(**named)

    monkeypatch.setattr(lane_lag, "newest", freeze)
    try:
        told = answer("/readyz")
    finally:
        _signal(stack.postgres, signal.SIGCONT)
    assert told.status_code == 503
    assert told.json()["database"].startswith("a commit takes over 2 s: ")
    until(lambda: not time_limit.commit_hangs(), what="the server takes sessions again")


def test_a_scrape_beside_a_frozen_database_ends_and_says_so(
    stack: Stack, answer: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert b"notifications_database_up 1.0" in answer("/metrics").content
    monkeypatch.setattr(metrics, "_SLOWEST", 1.0)
    with _frozen(stack.postgres):
        told = answer("/metrics")
    assert b"notifications_database_up 0.0" in told.content
    assert b"notifications_queue_messages" in told.content
    monkeypatch.undo()
    until(
        lambda: b"notifications_database_up 1.0" in answer("/metrics").content,
        what="the server answers again",
    )
