"""A fork of the supervisor is like a process that was executed, and a restart is an execution."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from notifyproj.devstack.supervisor.process import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks")


def test_a_fork_has_what_an_executed_process_has(tmp_path: Path) -> None:
    with _supervisor(tmp_path, "waits") as supervisor:
        first = _next(supervisor)
        forked = _facts(tmp_path)
        os.kill(first, signal.SIGKILL)
        supervisor.stdin.write("\n")
        supervisor.stdin.flush()
        _next(supervisor)
        executed = _facts(tmp_path)
    assert (forked.pop("is_fork"), executed.pop("is_fork")) == (True, False)
    executed["command"] = executed["command"].replace("\0", " ")
    assert forked == executed
    assert forked["command"].startswith(f"{sys.executable} -m tests.processes.forked_program")
    assert forked["descriptors"] == [0, 1, 2, 3]  # 3 lists the folder
    assert forked["niceness"] > 0


def test_a_fork_that_leaves_with_a_text_says_it_and_ends_with_one(tmp_path: Path) -> None:
    with _supervisor(tmp_path, "ends") as supervisor:
        assert supervisor.stdout.readline() == "None 1\n"
    assert (tmp_path / "log" / "forked.log").read_text() == "no such thing\n"


def test_a_fork_with_an_error_waits_for_its_thread_and_runs_exit_functions(tmp_path: Path) -> None:
    with _supervisor(tmp_path, "ends_with_an_error") as supervisor:
        assert supervisor.stdout.readline() == "None 1\n"
    *_, error, thread, function = (tmp_path / "log" / "forked.log").read_text().splitlines()
    assert (error, thread, function) == ("RuntimeError", "thread", "exit function")


def test_an_interrupted_fork_ends_by_the_signal(tmp_path: Path) -> None:
    with _supervisor(tmp_path, "ends_interrupted") as supervisor:
        assert supervisor.stdout.readline() == f"None {-signal.SIGINT}\n"


def test_a_fork_and_its_child_end_with_a_killed_supervisor(tmp_path: Path) -> None:
    with _supervisor(tmp_path, "forks") as supervisor:
        forked = psutil.Process(_next(supervisor))
        child = psutil.Process(_facts(tmp_path)["child"])
        supervisor.kill()
        psutil.wait_procs([forked, child], timeout=10)
        assert not any(
            each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in (forked, child)
        )


@contextmanager
def _supervisor(folder: Path, argument: str) -> Iterator[psutil.Popen]:
    command = [sys.executable, "-m", "tests.processes.forking_parent", str(folder), argument]
    with psutil.Popen(
        command,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        | {"OTHER": "of the supervisor"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as supervisor:
        yield supervisor
        supervisor.kill()


def _next(supervisor: psutil.Popen) -> int:
    return int(supervisor.stdout.readline().split()[0])


def _facts(folder: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((folder / "log" / "forked.log").read_text().splitlines()[-1])
    return facts
