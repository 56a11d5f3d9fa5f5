"""The supervisor restarts ended processes, and no process outlives the supervisor."""

from __future__ import annotations

import errno
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

from notifyproj.all_in_one.output import Output
from notifyproj.all_in_one.programs import ForkedProgram
from notifyproj.all_in_one.supervisor import SupervisedProcess
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.supervisor.process import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks")


class _Parent:
    """A running supervisor and its lines."""

    def __init__(self, process: subprocess.Popen[bytes], *, lines: Path, wrong: Path) -> None:
        self.process = process
        self._lines = lines
        self._wrong = wrong

    def told(self, event: str, **fields: object) -> list[dict[str, Any]]:
        """Return the lines of an event with these fields."""
        found = [json.loads(line) for line in self._lines.read_text().splitlines()]
        wanted = {"event": event, **fields}.items()
        return [line for line in found if wanted <= line.items()]

    def wait_for(self, count: int, event: str, **fields: object) -> list[dict[str, Any]]:
        """Wait for a number of such lines and return them."""

        def look() -> list[dict[str, Any]]:
            found = self.told(event, **fields)
            return found if len(found) >= count else []

        return until(look, what=f"{count} lines of {event} {fields}")

    def wrong(self) -> list[str] | None:
        """Return the lines of the file; None without a file."""
        return self._wrong.read_text().splitlines() if self._wrong.exists() else None


@contextmanager
def _parent(folder: Path, *words: str) -> Iterator[_Parent]:
    lines, wrong = folder / "lines", folder / "wrong"
    command = [sys.executable, "-m", "tests.all_in_one.parent", str(wrong), *words]
    with lines.open("wb") as output, subprocess.Popen(command, cwd=ROOT, stdout=output) as process:
        try:
            yield _Parent(process, lines=lines, wrong=wrong)
        finally:
            process.kill()


def test_a_killed_process_is_started_again_at_once_and_counts_as_wrong(tmp_path: Path) -> None:
    with _parent(tmp_path, "one", "two") as parent:
        [first] = parent.wait_for(1, "runs", process="one")
        until(lambda: parent.wrong() == [], what="nothing is wrong")
        os.kill(first["pid"], signal.SIGKILL)
        parent.wait_for(2, "runs", process="one")
        [ended] = parent.told("process_ended")
        assert ended == ended | {"name": "one", "exit_code": -9, "restart_after_seconds": 0.0}
        told = ["one ended 1 times and was started again less than 60 s ago"]
        until(lambda: parent.wrong() == told, what="the end counts as wrong")
        assert len(parent.told("runs", process="two")) == 1


def test_a_process_that_ends_again_and_again_waits_longer_each_time(tmp_path: Path) -> None:
    with _parent(tmp_path, "one", "ends") as parent:
        ends = parent.wait_for(4, "process_ended", name="ends", exit_code=3)
        assert [each["restart_after_seconds"] for each in ends] == [0.0, 1.0, 2.0, 4.0]
        until(
            lambda: parent.wrong() == ["ends is down: its last exit code is 3"], what="it is down"
        )
        assert len(parent.told("runs", process="one")) == 1


def test_without_process_ids_for_a_fork_the_process_is_down_and_the_supervisor_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> int:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(os, "fork", fail)
    read, write = os.pipe()
    process = SupervisedProcess(
        ForkedProgram(name="one", arguments=()), output=Output(["one"], to=write), environ={}
    )
    process.start()
    process.mend()
    assert process.find_fault().startswith("one is down")
    os.close(read)
    os.close(write)


def test_a_stop_ends_each_process_and_kills_the_one_that_ignores_it(tmp_path: Path) -> None:
    with _parent(tmp_path, "one", "deaf") as parent:
        pids = [parent.wait_for(1, "runs", process=name)[0]["pid"] for name in ("one", "deaf")]
        parent.process.terminate()
        assert parent.process.wait(30) == 0
        assert [pid for pid in pids if psutil.pid_exists(pid)] == []
        [killed] = parent.told("killed_after_time_to_stop")
        assert killed["names"] == ["deaf"]
        assert parent.wrong() is None


def test_a_stop_during_the_start_leaves_no_process(tmp_path: Path) -> None:
    with _parent(tmp_path, *(f"one-{number}" for number in range(20))) as parent:
        parent.wait_for(1, "starting")
        parent.process.terminate()
        assert parent.process.wait(30) == 0
        pids = [each["pid"] for each in parent.told("runs")]
        assert [pid for pid in pids if psutil.pid_exists(pid)] == []
        assert parent.told("killed_after_time_to_stop") == []


def test_a_wrong_setting_ends_the_container_with_a_line(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "notifyproj.all_in_one", "--wrong", str(tmp_path / "wrong")],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert "NOTIFY_PUBLIC_URL" in ran.stderr
    assert "Traceback" not in ran.stderr
