"""Reads go to a real standby, and to the primary while the standby cannot be trusted."""

from __future__ import annotations

import datetime as dt
import signal
import threading
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import psycopg
import pytest
from django.db import DEFAULT_DB_ALIAS, Error, connection, connections, transaction
from psycopg.errors import QueryCanceled
from psycopg.rows import dict_row
from pytest_django import DjangoAssertNumQueries

from notifications.core import clock
from notifications.core.models import Deploy
from notifications.core.rules import replica_lag
from notifications.core.store.postgres import db, disk, replica
from notifications.core.store.postgres.backend import hung_servers
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.servers import Stack
from tests.providers.fakes import free_port
from tests.read_replica import (
    as_replica,
    delayed,
    is_on_standby,
    run_on_primary,
    running_standby,
    standby,
    statements,
    url_of,
    used,
    wait_for_replay,
)
from tests.standbys import Standby, run, signal_all

__all__ = ["standby", "used"]

pytestmark = pytest.mark.django_db(transaction=True)

LogOutput = Callable[[], str]


def test_without_the_setting_the_primary_is_read_with_no_further_statement(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(1):
        assert not replica.read(is_on_standby)


def test_a_read_goes_to_the_standby_and_the_next_statement_to_the_primary(used: Standby) -> None:
    Deploy.objects.create(release="r1")
    wait_for_replay(used)
    primary = connections[DEFAULT_DB_ALIAS]

    def look() -> tuple[bool, list[str]]:
        return is_on_standby(), list(Deploy.objects.values_list("release", flat=True))

    assert replica.read(look) == (True, ["r1"])
    assert connections[DEFAULT_DB_ALIAS] is primary
    assert not is_on_standby()
    assert replica.read(lambda: replica.read(is_on_standby))


def test_a_comparison_holds_for_a_second(
    used: Standby, monkeypatch: pytest.MonkeyPatch, later: Callable[[dt.timedelta], None]
) -> None:
    del used
    compare = Mock(wraps=replica._compare)
    monkeypatch.setattr(replica, "_compare", compare)
    monkeypatch.setattr(clock, "steady", lambda: 0.0)
    for _ in range(3):
        assert replica.read(is_on_standby)
    assert compare.call_count == 1
    later(replica_lag.FRESH * 1.1)
    assert replica.read(is_on_standby)
    assert compare.call_count == 2


def test_in_a_transaction_the_primary_is_read(used: Standby) -> None:
    del used
    with transaction.atomic():
        assert not replica.read(is_on_standby)


def test_a_write_in_a_read_is_made_on_the_primary(used: Standby) -> None:
    del used
    replica.read(lambda: Deploy.objects.create(release="r2"))
    assert Deploy.objects.filter(release="r2").count() == 1
    assert replica.fault() == ""


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ({"cluster": 1}, "has_other_cluster"),
        ({"database": 1}, "has_other_database"),
        ({"timeline": 99}, "has_other_timeline"),
    ],
)
def test_a_copy_of_something_else_is_told(used: Standby, fact: dict[str, int], said: str) -> None:
    del used
    wanted = _compared() | fact
    [found] = replica.read(lambda: db.rows("replica_faults", wanted))
    assert [name for name in replica._FAULTS if found[name]] == [said]
    assert said in replica._FAULTS


def test_another_database_of_the_standby_is_left(standby: Standby) -> None:
    with as_replica(url_of(standby, "postgres")):
        assert not replica.read(is_on_standby)
        assert replica.fault() == "has another database than DATABASE_URL"


def test_a_paused_replay_is_left_and_used_again(used: Standby, log_output: LogOutput) -> None:
    assert replica.read(is_on_standby)
    run(used, "SELECT pg_wal_replay_pause()")
    try:
        until(lambda: replica.fault() == "has paused the replay", what="the pause is told")
        assert not replica.read(is_on_standby)
    finally:
        run(used, "SELECT pg_wal_replay_resume()")
    assert not replica.read(is_on_standby)  # only the watch compares
    assert replica.fault() == ""
    assert replica.read(is_on_standby)
    assert log_output().count('"replica_left"') == log_output().count('"replica_used_again"') == 1


def test_a_replay_that_is_behind_is_left(used: Standby, monkeypatch: pytest.MonkeyPatch) -> None:
    with delayed(used):
        for number in range(2):
            Deploy.objects.create(release=f"late {number}")
        assert replica.fault() == ""  # the newest replayed commit is young
        monkeypatch.setattr(replica, "MOST_LAG", dt.timedelta(milliseconds=1))
        until(lambda: replica.fault() == "is more than 10 s behind", what="the lag is told")
        assert not replica.read(is_on_standby)
    wait_for_replay(used)
    assert replica.fault() == ""


def test_an_idle_primary_is_no_lag(used: Standby, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "MOST_LAG", dt.timedelta(0))
    wait_for_replay(used)
    until(lambda: replica.fault() == "", what="the standby has all WAL")
    assert replica.read(is_on_standby)


def test_a_replica_that_is_away_is_left(log_output: LogOutput) -> None:
    with as_replica(f"postgresql://nobody@127.0.0.1:{free_port()}/notify"):
        for _ in range(3):
            assert not replica.read(is_on_standby)
        assert log_output().count('"replica_left"') == 1


def test_the_primary_is_no_replica(stack: Stack) -> None:
    parts = f"{stack.postgres.url.rpartition('/')[0]}/{connection.settings_dict['NAME']}"
    with as_replica(parts):
        assert replica.fault() == "does not answer"  # libpq refuses a server that takes writes
    with as_replica(f"{parts}?target_session_attrs=any"):
        assert replica.fault() == "takes writes: it is no standby"
        assert not replica.read(is_on_standby)


def test_a_frozen_replica_is_left_and_the_read_ends_on_the_primary(
    used: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hung_servers, "PATIENCE", 0.2)
    monkeypatch.setattr(hung_servers, "LIMIT", 0.2)
    assert replica.read(is_on_standby)
    frozen = [False]

    def freeze_and_look() -> bool:
        if not frozen[0]:
            frozen[0] = True
            signal_all(used, signal.SIGSTOP)
        return is_on_standby()

    try:
        assert not replica.read(freeze_and_look)
        assert replica.fault() == "does not answer"
        started = time.monotonic()
        assert not replica.read(is_on_standby)
        assert time.monotonic() - started < 0.5  # no read waits for a replica that was left
    finally:
        signal_all(used, signal.SIGCONT)
    until(lambda: replica.fault() == "", what="the replica is used again")
    assert replica.read(is_on_standby)


def test_a_replica_that_freezes_between_reads_is_left(
    used: Standby, later: Callable[[Any], None]
) -> None:
    assert replica.read(is_on_standby)
    signal_all(used, signal.SIGSTOP)
    try:
        later(2 * replica_lag.FRESH)
        assert not replica.read(is_on_standby)
    finally:
        signal_all(used, signal.SIGCONT)


def test_a_recovery_conflict_runs_the_read_again_on_the_primary(
    used: Standby, log_output: LogOutput
) -> None:
    run_on_primary("CREATE TABLE conflict (n integer)")
    run_on_primary("INSERT INTO conflict VALUES (1)")
    run(used, "ALTER SYSTEM SET max_standby_streaming_delay = 0")
    run(used, "SELECT pg_reload_conf()")
    wait_for_replay(used)
    writer = threading.Thread(target=_rewrite_while_read, args=(used,))
    try:
        writer.start()
        look = (
            "SELECT pg_is_in_recovery() FROM conflict"
            " WHERE pg_sleep(CASE WHEN pg_is_in_recovery() THEN 60 ELSE 0 END) IS NOT NULL"
        )
        assert replica.read(lambda: run_on_primary(look)) == [(False,)]
    finally:
        writer.join()
        run(used, "ALTER SYSTEM RESET max_standby_streaming_delay")
        run(used, "SELECT pg_reload_conf()")
        run_on_primary("DROP TABLE conflict")
    assert "conflict with recovery" in log_output()
    assert replica.read(is_on_standby)


def test_a_statement_that_is_too_slow_is_not_run_again(used: Standby) -> None:
    del used
    ran = []

    def slow() -> None:
        ran.append(is_on_standby())
        run_on_primary("SET statement_timeout = 10")
        run_on_primary("SELECT pg_sleep(60)")

    with pytest.raises(Error) as raised:
        replica.read(slow)
    assert isinstance(raised.value.__cause__, QueryCanceled)
    assert ran == [True]


def test_a_session_of_another_replica_gives_no_answer(used: Standby) -> None:
    """A load balancer may give a reopened session another replica, which nobody compared."""
    del used

    def reopen() -> bool:
        if is_on_standby():
            connection.close()
        return is_on_standby()

    assert not replica.read(reopen)
    assert replica.read(is_on_standby)


def test_a_full_disk_of_the_replica_stops_no_write(used: Standby) -> None:
    del used

    def fill() -> list[dict[str, Any]]:
        if is_on_standby():
            raised = "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$"
            with db.errors, db.cursor() as running:
                running.execute(raised)
        return []

    assert replica.read(fill) == []
    assert not disk.is_full()


def test_a_promoted_replica_is_left(stack: Stack) -> None:
    with running_standby(stack.postgres, "promoted") as server, as_replica(url_of(server)):
        wait_for_replay(server)
        assert replica.read(is_on_standby)
        run(server, "SELECT pg_promote()")
        assert replica.fault() == "takes writes: it is no standby"
        assert not replica.read(is_on_standby)


def test_a_killed_replica_is_left(stack: Stack) -> None:
    with running_standby(stack.postgres, "killed") as server, as_replica(url_of(server)):
        wait_for_replay(server)
        assert replica.read(is_on_standby)
        server.kill()
        # A process of the killed server may answer once more before it sees the end of its parent.
        until(lambda: not replica.read(is_on_standby), what="the primary is read")
        assert replica.fault() == "does not answer"
        server.start()
        until(lambda: replica.fault() == "", what="the replica is used again")
        assert replica.read(is_on_standby)


def test_a_standby_that_stays_with_the_old_primary_is_left(stack: Stack, used: Standby) -> None:
    """The WAL position of the standby is beyond that of the new primary; the timeline decides."""
    with running_standby(stack.postgres, "next") as server:
        wait_for_replay(server)
        run(server, "SELECT pg_promote()")
        run_on_primary("SELECT pg_logical_emit_message(true, 'test', repeat('x', 1000000))")
        wait_for_replay(used)
        with psycopg.connect(url_of(server), row_factory=dict_row) as link:
            primary = link.execute(db.statement("replica_primary")).fetchone() or {}
        wanted = {**primary, "most_lag": replica_lag.MOST_LAG}
        [found] = replica.read(lambda: db.rows("replica_faults", wanted))
        assert [name for name in replica._FAULTS if found[name]] == ["has_other_timeline"]


def test_a_role_without_special_rights_can_compare() -> None:
    with transaction.atomic():
        run_on_primary("CREATE ROLE plain_role")
        run_on_primary("SET LOCAL ROLE plain_role")
        [found] = db.rows("replica_faults", _compared())
        assert found["is_primary"]
        run_on_primary("RESET ROLE")
        run_on_primary("DROP ROLE plain_role")


def _compared() -> dict[str, Any]:
    """Return the parameters of replica_faults.sql."""
    [primary] = db.rows("replica_primary", {})
    return {**primary, "most_lag": replica_lag.MOST_LAG}


def _rewrite_while_read(standby: Standby) -> None:
    """Lock the table `conflict` for a moment while a session of the standby reads it."""
    until(
        lambda: any("FROM conflict" in each for each in statements(standby)),
        what="the standby is read",
    )
    run_on_primary("ALTER TABLE conflict ADD COLUMN more integer")
    connection.close()
