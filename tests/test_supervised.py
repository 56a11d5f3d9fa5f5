"""The lines of `/readyz` about the processes of a small installation."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from notifications.core import clock, supervised


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "wrong"
    monkeypatch.setenv(supervised.FILE, str(found))
    return found


def test_a_process_without_a_supervisor_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(supervised.FILE, raising=False)
    assert supervised.faults() == []


def _write(file: Path, text: str) -> None:
    """Write a file with the time of this process: a moved clock is not the kernel's."""
    file.write_text(text)
    now = clock.host().timestamp()
    os.utime(file, (now, now))


def test_the_faults_are_the_lines_of_the_file(file: Path) -> None:
    _write(file, "")
    assert supervised.faults() == []
    _write(file, "p1 is down: it ended with -9\n")
    assert supervised.faults() == ["p1 is down: it ended with -9"]


def test_an_old_file_is_that_of_a_stuck_supervisor(file: Path) -> None:
    file.write_text("")
    os.utime(file, (0, 0))
    assert supervised.faults() == ["the supervisor of the processes is stuck"]


def test_a_supervisor_without_a_file_starts_or_stops(file: Path) -> None:
    assert not file.exists()
    assert supervised.faults() == ["the processes are starting or stopping"]
