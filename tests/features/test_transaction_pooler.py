"""Commands and exports work through a pooler in transaction mode (pgbouncer).

Each transaction, and each statement outside a transaction, goes to another session of Postgres:
the pooler uses its sessions in turn. So whatever a session keeps is missing at the next statement.
"""

from __future__ import annotations

import io
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import psycopg
import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import DeadLetter, Producer
from notifications.core.operations import suppression_csv
from notifications.core.store.postgres.backend import hung_servers
from notifyproj.devstack.child_process import Child
from notifyproj.devstack.ports import LOOPBACK, free_port
from tests.admin.conftest import MakeDelivery, door, make_delivery, make_letters, maria, operator
from tests.api.conftest import forget, new_caller

__all__ = ["door", "make_delivery", "make_letters", "maria", "operator"]

_PROGRAM: Final = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(_PROGRAM is None, reason="pgbouncer is missing: apt-get install pgbouncer"),
]
_CONFIGURATION: Final = """
[databases]
{NAME} = host={HOST} port={PORT} dbname={NAME} user={USER} password={PASSWORD}
[pgbouncer]
listen_addr = {address}
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
server_round_robin = 1
default_pool_size = 3
query_wait_timeout = 3
{account}
"""
_ACCOUNT: Final = "user = nobody"
"""pgbouncer refuses to run as root."""


@pytest.fixture(autouse=True)
def pooler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Connect this thread to Postgres through pgbouncer."""
    assert _PROGRAM
    configuration = tmp_path / "pgbouncer.ini"
    port = free_port(str(tmp_path))
    configuration.write_text(
        _CONFIGURATION.format(
            **connection.settings_dict,
            address=LOOPBACK,
            port=port,
            account="" if os.geteuid() else _ACCOUNT,
        )
    )
    pgbouncer = Child("pgbouncer", log=tmp_path / "pgbouncer.log")
    pgbouncer.spawn([_PROGRAM, str(configuration)], folder=tmp_path, environ={})
    while not _listens(port):
        assert not pgbouncer.wait_for_end(0.05), pgbouncer.last_log_line()
    connection.close()
    with monkeypatch.context() as patch:
        patch.setitem(connection.settings_dict, "HOST", LOOPBACK)
        patch.setitem(connection.settings_dict, "PORT", port)
        _open_sessions(port)
        yield
        connection.close()
    pgbouncer.stop()


def _open_sessions(port: int) -> None:
    """Have the pooler open two sessions: two transactions at a time need them."""
    names = {"dbname": connection.settings_dict["NAME"], "user": connection.settings_dict["USER"]}
    links = [psycopg.connect(host=LOOPBACK, port=port, **names) for _ in range(2)]
    for link in links:
        link.execute("SELECT 1")
    for link in links:
        link.commit()  # the pooler closes the session of a transaction that its client leaves
        link.close()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


def _run(*words: str) -> str:
    output = io.StringIO()
    call_command(*words, stdout=output)
    return output.getvalue()


def test_two_statements_have_two_sessions() -> None:
    pids = set()
    for _ in range(3):
        with connection.cursor() as running:
            running.execute("SELECT pg_backend_pid()")
            pids.add(running.fetchone()[0])
    assert len(pids) > 1


def test_a_full_pool_ends_a_statement_and_is_no_hung_server() -> None:
    settings = connection.settings_dict
    parameters = {
        "host": LOOPBACK,
        "port": settings["PORT"],
        "dbname": settings["NAME"],
        "user": settings["USER"],
    }
    with ExitStack() as links:
        for _ in range(3):
            links.enter_context(psycopg.connect(**parameters)).execute("SELECT 1")
        with pytest.raises(OperationalError, match="query_wait_timeout") as raised:
            connection.cursor().execute("SELECT 1")
        assert not isinstance(raised.value.__cause__, hung_servers.HungServerError)
        assert not hung_servers.is_hung(parameters, (LOOPBACK, str(settings["PORT"])))
    connection.close()
    with connection.cursor() as running:
        running.execute("SELECT 1")
        assert running.fetchone() == (1,)


def test_dead_letters_are_counted_and_replayed(
    make_letters: Callable[[list[str]], list[DeadLetter]],
) -> None:
    make_letters(["permanent", "permanent", "ttl_exceeded"])
    told = _run("replay_dead", "--all", "--dry-run")
    assert told.split() == ["2", "permanent", "1", "ttl_exceeded", "3", "in", "all"]
    assert "2 replayed, 0 skipped" in _run("replay_dead", "--reason", "permanent")


def test_commands_that_read_rows(make_delivery: MakeDelivery, tmp_path: Path) -> None:
    delivery = make_delivery()
    assert str(delivery.id) in _run("find_message", "u_789012")
    assert "dead letters" in _run("report", "daily", "--csv")
    today = clock.now().date().isoformat()
    assert f"{today}: " in _run("recount_rollups", "--from", today)
    _run("archive", "list")
    _run("bulk_job", "list")
    assert "sandbox" in _run("live_providers")
    _run("export_templates", f"--dir={tmp_path / 'templates'}")
    _run("create_key", "shop", "--new")
    assert Producer.objects.filter(name="shop").exists()


def test_the_form_of_a_row_lists_the_rows_that_it_may_name(door: Client) -> None:
    Producer.objects.create(name="shop")
    # Django reads the choices of a form by `QuerySet.iterator`.
    page = door.get(reverse("admin:notifications_canceljob_add"))
    assert ">shop<" in page.content.decode()


@pytest.fixture
def _no_key_of_another_test() -> Iterator[None]:
    forget()
    yield
    forget()


@pytest.mark.usefixtures("_no_key_of_another_test")
def test_suppressions_and_figures_are_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suppression_csv, "_PER_READ", 2)
    caller = new_caller()
    lines = "".join(f"email,{number}@example.com\n" for number in range(7))
    added = caller.send(
        "POST", "/v1/suppressions", f"channel,address\n{lines}".encode(), media_type="text/csv"
    )
    assert added.json()["added"] == 7
    exported = caller.send("GET", "/v1/suppressions", accept="text/csv")
    assert exported.getvalue().decode().count("@example.com") == 7
    figures = caller.get("/v1/analytics", metric="sent", by="channel", step="total", format="csv")
    assert figures.status_code == 200
    assert caller.get("/v1/costs", by="channel", format="csv").status_code == 200


def test_tables_of_the_admin_are_exported(door: Client, make_delivery: MakeDelivery) -> None:
    delivery = make_delivery()
    page = door.get(reverse("admin:notifications_activity"), {"q": "u_789012", "export": "csv"})
    assert str(delivery.notification_id) in page.getvalue().decode()
