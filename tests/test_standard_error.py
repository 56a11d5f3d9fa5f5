"""Standard error that nobody reads must not stop a thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from notifications.core.telemetry import Lines

_FULL = 64 * 1024
"""More than the queue of `lines` holds; a Linux pipe holds as much again."""
_LINE = "x" * 99 + "\n"
_ROOT = Path(__file__).resolve().parents[1]
_CONFTEST = """
from notifications.core.telemetry import STDERR
from tests import captured_lines

captured_lines.keep()

def pytest_runtest_logreport():  # pytest prints a dot now, and captures nothing
    STDERR.write('{"event": "between"}\\n')
    assert STDERR.drain(30)

def pytest_unconfigure(config):
    STDERR.write('{"event": "last"}\\n')
    captured_lines.discard_the_rest(config)
"""
_TESTS = """
from notifications.core.telemetry import STDERR

def test_that_holds():
    STDERR.write('{"event": "of a test that holds"}\\n')
    assert STDERR.drain(30)

def test_that_fails():
    STDERR.write('{"event": "of a test that fails"}\\n')
    assert STDERR.drain(30)
    raise AssertionError
"""


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def _read_all(descriptor: int, lines: Lines) -> bytes:
    """What was written and what still waits to be."""
    os.set_blocking(descriptor, False)
    found, is_written = b"", False
    while True:
        try:
            found += os.read(descriptor, _FULL)
        except BlockingIOError:
            if is_written:
                return found
            is_written = lines.drain(0.01)


def test_a_full_pipe_delays_no_writer_and_the_lost_lines_are_counted(
    pipe: tuple[int, int],
) -> None:
    reading, writing = pipe
    lines = Lines(writing, most_bytes=_FULL)
    count = 10 * _FULL // len(_LINE)
    writer = Thread(target=lambda: [lines.write(_LINE) for _ in range(count)], daemon=True)
    writer.start()
    writer.join(30)
    assert not writer.is_alive(), "a writer waits for the reader"
    assert not lines.drain(0.01)
    found = _read_all(reading, lines)
    lost = [json.loads(line)["count"] for line in found.splitlines() if b"lines_dropped" in line]
    assert lost
    assert found.count(b"x" * 99) + sum(lost) == count


def test_lines_arrive_in_their_order(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    lines = Lines(writing)
    for number in range(100):
        lines.write(f"{number}\n")
    assert lines.drain(30)
    assert os.read(reading, _FULL).split() == [b"%d" % number for number in range(100)]


def test_a_closed_standard_error_stops_nobody() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    lines = Lines(writing)
    lines.write("nobody reads this\n")
    assert lines.drain(30)
    os.close(writing)


def test_a_fork_starts_a_writer_of_its_own(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    lines = Lines(writing)
    lines.write("before\n")
    assert lines.drain(30)
    child = os.fork()
    if not child:
        lines.write("after\n")
        os._exit(0 if lines.drain(30) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(reading, _FULL).split() == [b"before", b"after"]


def test_a_test_run_shows_the_log_lines_of_a_failing_test_alone(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(_CONFTEST)
    (tmp_path / "test_two.py").write_text(_TESTS)
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:django"),
            *("-p", "no:cacheprovider", "-c", "/dev/null", f"--rootdir={tmp_path}", tmp_path),
        ],
        cwd=_ROOT,
        env={"PYTHONPATH": str(_ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    dots, _, report = run.stdout.partition("= FAILURES =")
    assert dots.startswith(".F"), run.stdout
    assert "event" not in dots
    assert '"of a test that fails"' in report.partition("Captured stderr call")[2]
    assert '"last"' not in report
