"""A server that never answers is left; a slow statement of a server that works is not ended."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import pytest
from django.db import OperationalError, connection

from notifications.core.store.postgres import db
from notifications.core.store.postgres.backend import hung_servers
from notifications.core.store.postgres.backend.base import Session
from notifications.core.store.postgres.backend.hung_servers import HungServerError
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.servers import Stack
from tests.standbys import signal_all, standby_gone

pytestmark = pytest.mark.django_db(transaction=True)

_WRITE = "SELECT pg_logical_emit_message(true, 'test', '')"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(hung_servers, "PATIENCE", 0.1)
    yield
    connection.close()
    hung_servers._standings.clear()


def _run(statement: str) -> list[tuple[object, ...]]:
    with connection.cursor() as running:
        running.execute(statement)
        return list(running.fetchall())


def test_a_slow_statement_of_a_working_server_gives_its_result() -> None:
    found = _run("SELECT n, pg_sleep(0.2), repeat('x', 100000) FROM generate_series(1, 5) AS n")
    assert [row[0] for row in found] == [1, 2, 3, 4, 5]


def test_a_slow_copy_to_a_working_server_ends() -> None:
    with connection.cursor() as running:
        running.execute(
            "CREATE TEMPORARY TABLE copied (n integer CHECK (pg_sleep(0.2) IS NOT NULL))"
        )
        with running.copy("COPY copied FROM STDIN") as stream:
            stream.write("1\n2\n3\n")
        running.execute("SELECT count(*) FROM copied")
        assert running.fetchone() == (3,)


def test_a_commit_that_waits_for_a_standby_ends_with_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hung_servers, "LIMIT", 0.5)
    with standby_gone(times=0):
        for _ in range(2):  # in an open session, and before a session is opened
            with pytest.raises(OperationalError) as found:
                _run(_WRITE)
            assert isinstance(found.value.__cause__, HungServerError)
            assert not db.is_undone(found.value)
            connection.close()
    until(_takes_writes, what="the server is used again")


def _takes_writes() -> bool:
    try:
        _run(_WRITE)
    except OperationalError:
        connection.close()
        return False
    return True


def test_a_frozen_server_is_left(stack: Stack) -> None:
    _run(_WRITE)
    signal_all(stack.postgres, signal.SIGSTOP)
    try:
        with pytest.raises(OperationalError) as found:
            _run(_WRITE)
    finally:
        signal_all(stack.postgres, signal.SIGCONT)
    assert isinstance(found.value.__cause__, HungServerError)
    connection.close()
    until(_takes_writes, what="the server is used again")


def test_the_first_session_to_one_of_several_servers_tests_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hung_servers, "LIMIT", 0.5)
    values = connection.get_connection_params()
    one = {name: str(values[name]) for name in ("host", "port", "dbname", "user", "password")}
    several = {
        **one,
        "host": f"{one['host']},{LOOPBACK}",
        "port": f"{one['port']},{free_port('nothing listens here')}",
    }
    with standby_gone(times=0):
        Session.connect(**one).close()  # the only server: a test would lead to no other
        with pytest.raises(HungServerError):
            Session.connect(**several)
        assert [each.is_hung for each in hung_servers._standings.values()] == [True]
    until(partial(_connects, several), what="the server is used again")
    [standing] = hung_servers._standings.values()
    tested_at = standing.tested_at
    Session.connect(**several).close()
    assert (standing.is_hung, standing.tested_at) == (False, tested_at)


def _connects(parameters: dict[str, str]) -> bool:
    try:
        Session.connect(**parameters).close()
    except HungServerError:
        return False
    return True


def test_the_other_hosts_are_used_first() -> None:
    parameters = {"host": "a,b,c", "port": "1,2,3", "dbname": "x"}
    standing = hung_servers._Standing(is_hung=True, tested_at=time.monotonic())
    hung_servers._standings["a", "1"] = standing
    usable, hung = hung_servers.separate(parameters)
    assert usable == {"host": "b,c", "port": "2,3", "dbname": "x"}
    assert hung == {"host": "a", "port": "1", "dbname": "x"}
    with pytest.raises(HungServerError):
        hung_servers.recovered(hung)
    standing.is_hung = False
    assert hung_servers.separate(parameters) == (parameters, None)


def test_hosts_may_share_a_port_or_have_the_usual_one() -> None:
    hung_servers._standings["b", "5432"] = hung_servers._Standing(is_hung=True)
    usable, hung = hung_servers.separate({"host": "a,b", "port": ""})
    assert (usable, hung) == ({"host": "a", "port": ""}, {"host": "b", "port": ""})
    assert hung_servers.separate({"host": "b"}) == (None, {"host": "b"})
    both = {"host": "a,b", "port": "5432"}
    assert hung_servers.separate(both)[0] == {"host": "a", "port": "5432"}


def test_a_thread_may_test_a_further_server_meanwhile() -> None:
    class Standing(hung_servers._Standing):
        __slots__ = ()

        def __getattribute__(self, name: str) -> object:
            hung_servers._standings.setdefault(("c", "2"), hung_servers._Standing())
            return super().__getattribute__(name)

    hung_servers._standings["a", "1"] = Standing()
    parameters = {"host": "a", "port": "1"}
    assert hung_servers.separate(parameters) == (parameters, None)
    assert ("c", "2") in hung_servers._standings


def test_a_server_that_the_url_names_by_its_ip_address_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`hostaddr` spares a look-up in DNS; the name beside it is that of the certificate."""
    monkeypatch.setattr(hung_servers, "LIMIT", 0.5)
    given = connection.get_connection_params()
    port = given.pop("port")
    address = given.pop("host")
    forms = (
        {"hostaddr": f"{address},{address}", "port": f"{port},1"},
        {
            "host": "db1.example,db2.example",
            "hostaddr": f"{address},{address}",
            "port": f"{port},1",
        },
    )
    for form in forms:
        with closing(Session.connect(**given, **form)) as session, standby_gone(times=0):
            session.autocommit = True
            with pytest.raises(HungServerError):
                session.execute(_WRITE)
            usable, hung = hung_servers.separate(form)
            assert usable is not None
            assert hung is not None
            assert (usable["port"], hung["port"]) == ("1", port)
