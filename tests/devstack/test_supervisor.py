"""The supervisor: starts, mends and stops real processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest

from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.supervisor import demo
from notifyproj.devstack.supervisor.demo import demo_secrets
from notifyproj.devstack.supervisor.process import (
    ROOT,
    Process,
    ProcessFailed,
    ProcessGroup,
    kill_leftovers,
)
from notifyproj.devstack.supervisor.programs import (
    PROGRAMS,
    Answers,
    OutputShows,
    Ports,
    Program,
    program,
)
from providers.push import keys

_SERVE = "import http.server as h, sys; h.test(h.SimpleHTTPRequestHandler, port=int(sys.argv[1]))"
_STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    " print('deaf', flush=True); signal.pause()"
)

_PARENT_OF_A_SERVER = (
    "import subprocess, sys; "
    f"subprocess.run([sys.executable, '-c', {_SERVE!r}, sys.argv[1]], check=True)"
)
_PARENT_OF_THE_DEAF = (
    "import subprocess, sys; "
    f"child = subprocess.Popen([sys.executable, '-u', '-c', {_STUBBORN!r}]); child.wait()"
)
_SUPERVISOR = """
import os, sys
from pathlib import Path
from notifyproj.devstack.supervisor.process import mark
from notifyproj.devstack.supervisor.process import Process
from notifyproj.devstack.supervisor.programs import Ports, Program, OutputShows
code, var = sys.argv[1], Path(sys.argv[2])
entry = Program(name="one", arguments=("-u", "-c", code), ready=OutputShows("deaf"))
process = Process(entry, ports=Ports(), environ=mark(os.environ, var=var), var=var)
process.start()
process.wait_ready()
print(process.pid, flush=True)
sys.stdin.read()
"""


def _program(name: str, code: str, *, ready: Answers | OutputShows, port: str = "{web}") -> Program:
    return Program(name=name, arguments=("-u", "-c", code, port), ready=ready)


@pytest.fixture
def ports(tmp_path: Path) -> Ports:
    return Ports(web=free_port(f"{tmp_path}/web"), sandbox=free_port(f"{tmp_path}/sandbox"))


@pytest.fixture
def server(ports: Ports, tmp_path: Path) -> Iterator[Process]:
    entry = _program("server", _SERVE, ready=Answers("web", "/"))
    process = Process(entry, ports=ports, environ={}, var=tmp_path)
    yield process
    process.kill()


def test_a_process_is_ready_when_it_answers_and_its_pid_is_known(
    server: Process, tmp_path: Path
) -> None:
    server.start()
    server.wait_ready()
    assert (tmp_path / "run" / "server.pid").read_text() == str(server.pid)


def test_a_process_that_ends_at_its_start_says_why(ports: Ports, tmp_path: Path) -> None:
    entry = _program("broken", "raise SystemExit('no such thing')", ready=OutputShows("never"))
    process = Process(entry, ports=ports, environ={}, var=tmp_path)
    process.start()
    with pytest.raises(ProcessFailed, match="broken ended at its start: no such thing"):
        process.wait_ready()


def test_readiness_is_asked_of_this_start_and_not_of_an_older_log(
    ports: Ports, tmp_path: Path
) -> None:
    entry = _program("speaker", "print('here')", ready=OutputShows("here"))
    process = Process(entry, ports=ports, environ={}, var=tmp_path)
    process.log.parent.mkdir()
    process.log.write_text("here\n")
    process.start()
    process.wait_for_end(10)
    assert process.text() == "here\n"


def test_a_stopped_process_holds_its_port_and_goes_on(server: Process) -> None:
    server.start()
    server.wait_ready()
    server.signal(signal.SIGSTOP)
    assert server.pid is not None
    os.waitid(os.P_PID, server.pid, os.WSTOPPED | os.WNOWAIT)  # a signal takes its time
    assert psutil.Process(server.pid).status() == psutil.STATUS_STOPPED
    server.signal(signal.SIGCONT)
    server.wait_ready()


def test_a_process_that_does_not_listen_is_killed_in_the_end(ports: Ports, tmp_path: Path) -> None:
    entry = _program("deaf", _STUBBORN, ready=OutputShows("deaf"))
    process = Process(entry, ports=ports, environ={}, var=tmp_path)
    process.stop_seconds = 0.2
    process.start()
    process.wait_ready()
    process.stop()
    assert process.exit_code == -signal.SIGKILL


def test_a_crew_starts_again_what_was_killed(server: Process) -> None:
    told: list[str] = []
    crew = ProcessGroup([server], report=told.append)
    crew.start()
    first = server.pid
    server.kill()
    crew.restart_dead()
    server.wait_ready()
    assert server.pid != first
    assert "server ended with -9 and is started again" in told
    crew.stop()
    assert server.pid is None


def test_a_child_of_a_main_process_that_was_killed_ends_and_frees_its_port(
    ports: Ports, tmp_path: Path
) -> None:
    entry = _program("parent", _PARENT_OF_A_SERVER, ready=Answers("web", "/"))
    parent = Process(entry, ports=ports, environ={}, var=tmp_path)
    crew = ProcessGroup([parent], report=lambda _line: None)
    crew.start()
    assert parent.pid is not None
    [child] = psutil.Process(parent.pid).children()
    os.kill(parent.pid, signal.SIGKILL)
    assert parent.wait_for_end(10)
    crew.restart_dead()
    parent.wait_ready()
    assert _has_ended(child)
    crew.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's leash is Linux's")
def test_a_process_that_does_not_listen_ends_with_its_supervisor(tmp_path: Path) -> None:
    with _supervisor_of(_STUBBORN, var=tmp_path) as (supervisor, process):
        supervisor.kill()
        assert _has_ended(process)


def test_what_a_killed_supervisor_has_left_is_killed_before_the_next_run(tmp_path: Path) -> None:
    with _supervisor_of(_PARENT_OF_THE_DEAF, var=tmp_path) as (supervisor, process):
        [child] = process.children()
        kill_leftovers(tmp_path)
        assert child.is_running()  # its supervisor lives
        supervisor.kill()
        assert _has_ended(process)
        kill_leftovers(tmp_path / "another")
        assert child.is_running()
        kill_leftovers(tmp_path)
        assert _has_ended(child)


@contextmanager
def _supervisor_of(code: str, *, var: Path) -> Iterator[tuple[psutil.Popen, psutil.Process]]:
    """Run a supervisor in a process; yields the supervisor and its child."""
    supervisor = psutil.Popen(
        [sys.executable, "-c", _SUPERVISOR, code, str(var)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with supervisor:
        yield supervisor, psutil.Process(int(supervisor.stdout.readline()))
        supervisor.kill()


def _has_ended(process: psutil.Process) -> bool:
    """Wait for its end; a zombie has ended, and its new parent has not looked yet."""
    _, alive = psutil.wait_procs([process], timeout=10)
    return not alive or process.status() == psutil.STATUS_ZOMBIE


def test_a_crew_gives_up_on_what_ends_again_and_again(ports: Ports, tmp_path: Path) -> None:
    entry = _program("sick", "raise SystemExit('sick')", ready=OutputShows("never"))
    process = Process(entry, ports=ports, environ={}, var=tmp_path)
    crew = ProcessGroup([process], report=lambda _line: None)

    def mend_for_ever() -> None:
        while True:
            crew.restart_dead()
            assert process.wait_for_end(10)

    with pytest.raises(ProcessFailed, match="sick ends again and again: sick"):
        mend_for_ever()


def test_a_taken_port_is_told_in_one_line(ports: Ports, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, ports.web))
        taken.listen()
        assert demo.run(ports, stay=False) == 1
    said = capsys.readouterr().out
    assert f"Port {ports.web} (web) is taken by another program" in said
    assert said.count("\n") == 1


def test_the_demo_tells_how_to_remove_a_database_of_another_version(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "VAR", tmp_path)
    url = stack.urls()["DATABASE_URL"]
    older = url.rpartition("/")[0] + "/of_another_version"
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("DROP DATABASE IF EXISTS of_another_version")
        link.execute("CREATE DATABASE of_another_version")
    with psycopg.connect(older) as link:
        link.execute("CREATE TABLE django_migrations (id int, app text, name text, applied date)")
        link.execute("INSERT INTO django_migrations VALUES (1, 'notifications', '0001_initial')")
    settings = {**os.environ, "DATABASE_URL": older}
    monkeypatch.delenv("DATABASE_URL")
    with pytest.raises(ProcessFailed, match=r"another version.*: rm -rf /data/of/the/demo$"):
        demo._migrate(settings, data=Path("/data/of/the/demo"))
    monkeypatch.setenv("DATABASE_URL", older)
    with pytest.raises(ProcessFailed, match=r"E001.*the tables of the database of_another_version"):
        demo._migrate(settings, data=Path("/data/of/the/demo"))
    with psycopg.connect(older) as link:
        tables = link.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        assert tables.fetchall() == [("django_migrations",)]


def test_the_demo_shows_the_last_errors_of_each_log_after_a_failed_story(
    ports: Ports, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = (
        "import json, signal\nfor number in range(5):\n  line = dict(event=number, level='error')\n"
        "  print(json.dumps(line, separators=(',', ':')))\nprint('ready'); signal.pause()"
    )
    entry = _program("one", code, ready=OutputShows("ready"))
    crew = ProcessGroup([Process(entry, ports=ports, environ={}, var=tmp_path)], report=print)
    crew.start()
    capsys.readouterr()
    demo._tell_errors(crew)
    crew.stop()
    told = capsys.readouterr().out.splitlines()
    shown = [line.partition("one: ")[2] for line in told]
    assert shown == [f'{{"event":{number},"level":"error"}}' for number in (2, 3, 4)]


def test_the_demos_secrets_are_made_once_and_are_private(tmp_path: Path) -> None:
    first = demo_secrets(tmp_path)
    assert demo_secrets(tmp_path) == first
    keys.p256_pem_or_raw(first["NOTIFY_WEB_PUSH_PRIVATE_KEY"])
    assert (tmp_path / "demo.json").stat().st_mode & 0o077 == 0


def test_every_program_runs_under_this_interpreter_and_has_its_ports_filled_in() -> None:
    for entry in PROGRAMS:
        command = entry.command(Ports(web=1, live=4, flower=2, sandbox=3))
        assert command[4 * entry.low_priority] == sys.executable
        assert not any("{" in part for part in command)


def test_p0_has_two_workers_and_shares_them_with_nobody() -> None:
    served = [
        queues.removeprefix("--queues=").split(",")
        for name in ("p0", "p0-2")
        for queues in program(name).arguments
        if queues.startswith("--queues=")
    ]
    assert len(served) == 2
    assert served[0] == served[1]
    assert all(lane.startswith("p0.") for lane in served[0])
    others = [each for each in PROGRAMS if each.name not in {"p0", "p0-2"}]
    assert not any(",p0." in part or "=p0." in part for each in others for part in each.arguments)
