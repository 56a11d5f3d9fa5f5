"""Rounds of reads: the trouble of one recipient is no trouble of the others."""

from __future__ import annotations

from collections.abc import Callable

from django.db import connection, transaction

from notifyproj.devstack.demo.environment import until
from tests.features.inbox.live.conftest import LiveProcess, Member

_WAITING = """
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()
"""


def test_a_client_that_leaves_during_a_failing_read_does_not_end_the_process(
    live: LiveProcess, make_person: Callable[[], Member]
) -> None:
    stays, leaves = make_person(), make_person()
    client = live.connect(stays.token)
    client.wait_for("hello")
    leaving = live.connect(leaves.token)
    leaving.wait_for("hello")
    leaves.add()
    leaving.wait_for("changes")
    with transaction.atomic(), connection.cursor() as running:
        running.execute("LOCK TABLE inbox_item IN ACCESS EXCLUSIVE MODE")
        again = live.connect(leaves.token, since=0)
        until(_waiting, what="a read that waits")
        again.close()
        leaving.close()
        until(lambda: live.ready()["connections"] == 1, what="the end of the connections")
        running.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s) AS pid", [_waiting()])
    stays.add()
    client.wait_for("changes")
    assert live.ready()["connections"] == 1


def test_an_inbox_that_cannot_be_read_does_not_stop_the_others(
    live: LiveProcess, make_person: Callable[[], Member]
) -> None:
    other, broken = make_person(), make_person()
    broken.add(data={"number": 1e25})  # Postgres returns an integer, which orjson cannot write
    stream = live.connect(broken.token, since=0)
    client = live.connect(other.token)
    client.wait_for("hello")
    other.add()
    client.wait_for("changes")
    stream.wait_for_end()


def _waiting() -> list[int]:
    with connection.cursor() as running:
        running.execute(_WAITING)
        return [pid for (pid,) in running.fetchall()]
