"""Numbers of processes that share a folder: distinct among running processes, free after an end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

_PROGRAM: Final = """
import sys
from pathlib import Path
from notifications.core.telemetry.process_number import ProcessNumber
number = ProcessNumber(Path(sys.argv[1]))
print(number.current(), flush=True)
for line in sys.stdin:
    child = __import__("os").fork()
    if child == 0:
        print(number.current(), flush=True)
        sys.stdin.readline()
        __import__("os")._exit(0)
"""


@contextmanager
def _process(folder: Path) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout
        finally:
            process.kill()


def _number(output: IO[str]) -> int:
    return int(output.readline())


def test_running_processes_have_different_numbers_and_a_killed_process_frees_its_number(
    tmp_path: Path,
) -> None:
    with _process(tmp_path) as (first, one), _process(tmp_path) as (_, two):
        numbers = [_number(one), _number(two)]
        assert sorted(numbers) == [0, 1]
        first.kill()
        first.wait()
        with _process(tmp_path) as (_, three):
            assert _number(three) == numbers[0]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["0.lock", "1.lock"]


def test_a_child_of_a_fork_takes_a_number_of_its_own(tmp_path: Path) -> None:
    with _process(tmp_path) as (parent, output):
        assert _number(output) == 0
        assert parent.stdin is not None
        parent.stdin.write("fork\n")
        parent.stdin.flush()
        assert _number(output) == 1
        with _process(tmp_path) as (_, other):
            assert _number(other) == 2  # the parent and its child keep theirs
