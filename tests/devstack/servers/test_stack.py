"""The embedded servers keep data across restarts and survive kills."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from notifyproj.devstack.ports import LOOPBACK, free_port, is_free
from notifyproj.devstack.servers import EmbeddedError, Stack
from notifyproj.devstack.servers.location import find_location
from notifyproj.devstack.supervisor.process import ROOT


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The checkout of `own`; its data, which take seconds to make, serve all tests."""
    root = tmp_path_factory.mktemp("own")
    yield root
    place = find_location("own", root=root)
    if place.account is not None:  # the user root's data are not under `root`
        shutil.rmtree(place.folder.parent)


@pytest.fixture
def own(root: Path) -> Iterator[Stack]:
    """Start a stack without rows for one test, which may damage the servers."""
    stack = Stack("own", root=root, environ={}, postgres_settings={"fsync": "off"})
    stack.start()
    with psycopg.connect(stack.urls()["DATABASE_URL"]) as link:
        link.execute("DROP TABLE IF EXISTS kept")
    yield stack
    stack.stop()


def _rows(stack: Stack) -> list[int]:
    with psycopg.connect(stack.urls()["DATABASE_URL"]) as link:
        return [row[0] for row in link.execute("SELECT n FROM kept ORDER BY n")]


def _keep(stack: Stack, *numbers: int) -> None:
    with psycopg.connect(stack.urls()["DATABASE_URL"]) as link:
        link.execute("CREATE TABLE IF NOT EXISTS kept (n int)")
        for number in numbers:
            link.execute("INSERT INTO kept VALUES (%s)", [number])


def test_postgres_keeps_what_was_committed_through_a_kill_and_a_restart(own: Stack) -> None:
    _keep(own, 1)
    own.postgres.kill()
    with pytest.raises(psycopg.OperationalError):
        _rows(own)
    own.postgres.start()
    _keep(own, 2)
    own.postgres.restart()
    assert _rows(own) == [1, 2]


def test_a_stack_finds_its_data_again_on_the_same_ports(own: Stack) -> None:
    _keep(own, 7)
    before = own.urls()
    own.stop()
    assert own.start() == before
    assert _rows(own) == [7]


def test_a_new_checkout_at_the_path_of_a_removed_one_gets_no_data_of_it(
    own: Stack, root: Path
) -> None:
    _keep(own, 7)
    own.stop()
    shutil.rmtree(root / "var")  # what `git clone` leaves out
    own.start()
    with psycopg.connect(own.urls()["DATABASE_URL"]) as link:
        assert link.execute("SELECT to_regclass('kept')").fetchone() == (None,)
    _keep(own, 8)
    own.stop()
    own.start()
    assert _rows(own) == [8]


def test_the_broker_forgets_at_a_kill_and_comes_back_with_an_old_snapshot_when_told(
    own: Stack, tmp_path: Path
) -> None:
    client = redis.Redis.from_url(own.broker.url)
    client.set("first", 1)
    own.valkey_broker.save(tmp_path / "old.rdb")
    client.set("second", 2)
    own.valkey_broker.restore(tmp_path / "old.rdb")
    assert client.mget("first", "second") == [b"1", None]
    own.broker.flush()
    own.broker.kill()
    own.broker.start()
    assert client.dbsize() == 0
    client.close()


def test_broker_and_state_are_two_servers_that_never_evict(own: Stack) -> None:
    policies = set()
    for server in (own.broker, own.state):
        with redis.Redis.from_url(server.url) as client:
            policies.add(client.config_get("maxmemory-policy")["maxmemory-policy"])
    assert own.broker.port != own.state.port
    assert policies == {"noeviction"}


def test_nobody_gets_in_without_the_password(own: Stack) -> None:
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://notify:wrong@{LOOPBACK}:{own.postgres.port}/notify")
    with pytest.raises(redis.AuthenticationError), redis.Redis(port=own.state.port) as client:
        client.ping()


def test_a_second_stack_of_one_purpose_is_told_who_holds_it(own: Stack, root: Path) -> None:
    with pytest.raises(EmbeddedError, match=f"in use by process {os.getpid()}"):
        Stack("own", root=root, environ={}).start()
    assert own.postgres.answers()


def test_a_stale_pid_file_that_names_a_living_process_does_no_harm(own: Stack) -> None:
    pid_file = own.postgres.data / "postmaster.pid"
    own.postgres.kill()
    pid_file.write_text(f"{os.getpid()}\n{own.postgres.data}\n1\n1\n\n{LOOPBACK}\n1 1\n")
    own.postgres.start()
    assert own.postgres.answers()


def test_a_server_that_lost_its_supervisor_is_replaced(own: Stack) -> None:
    _keep(own, 3)
    lost, own.postgres._process = own.postgres._process, None  # as if we had just begun
    own.postgres.start()
    assert isinstance(lost, subprocess.Popen)
    assert lost.wait(10) == 0  # it was asked, not killed
    assert _rows(own) == [3]


def test_a_port_that_somebody_else_listens_on_is_passed_over() -> None:
    first = free_port("a seed")
    with socket.socket() as taken:
        taken.bind((LOOPBACK, first))
        taken.listen()
        assert not is_free(first)
        assert free_port("a seed") != first


def test_a_port_that_somebody_else_has_reserved_is_passed_over() -> None:
    code = (
        "import sys; from notifyproj.devstack.ports import free_port\n"
        "print(free_port('a seed of two'), flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        reserved = int(other.stdout.readline())
        assert is_free(reserved)
        ours = free_port("a seed of two")
        other.communicate("")
    assert ours != reserved
    assert free_port("a seed of two") == reserved  # the reservation has ended with the process


def test_two_seeds_of_one_process_have_two_ports() -> None:
    # The second seed's port by itself is that of the first.
    assert free_port("19") != free_port("92")


def test_what_the_environment_names_is_used_and_nothing_is_started(tmp_path: Path) -> None:
    given = {
        "DATABASE_URL": "postgresql://db/x",
        "REDIS_URL": "redis://state",
        "CELERY_BROKER_URL": "amqp://broker",
    }
    with Stack("own", root=tmp_path, environ=given) as stack:
        assert stack.urls() == given
        with pytest.raises(EmbeddedError, match="names one of yours"):
            stack.postgres.kill()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("purpose", ["", "../demo", "Demo", "a" * 40])
def test_a_purpose_that_is_no_plain_word_is_refused(purpose: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="purpose"):
        Stack(purpose, root=tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's leash is Linux's")
def test_no_server_outlives_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from notifyproj.devstack.servers import Stack\n"
        "stack = Stack('own', root=Path(sys.argv[1]), environ={}); stack.start()\n"
        "pids = [stack.postgres.pid, stack.state.pid, stack.broker.pid]\n"
        "print(*pids, stack.postgres.place.folder.parent, flush=True); sys.stdin.read()"
    )
    supervisor = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with supervisor:
        assert supervisor.stdout is not None
        *pids, folder = supervisor.stdout.readline().split()
        servers = [psutil.Process(int(pid)) for pid in pids]
        supervisor.send_signal(signal.SIGKILL)
    _, alive = psutil.wait_procs(servers, timeout=10)
    zombies = [each for each in alive if each.status() == psutil.STATUS_ZOMBIE]
    assert alive == zombies  # they ended; whoever adopts them has not looked yet
    if not Path(folder).is_relative_to(tmp_path):
        shutil.rmtree(folder)
