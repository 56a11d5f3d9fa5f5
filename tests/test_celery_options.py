"""Celery starts no worker and no beat with an option that the product cannot work with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from notifyproj.devstack.child_process import Child

_ROOT: Final = Path(__file__).resolve().parents[1]
_CELERY: Final = (sys.executable, "-m", "celery", "-A", "notifyproj")
_COMMAND: Final = "celery -A notifyproj worker --pool=threads --queues={} --concurrency={}"


def _refusal(*words: str) -> str:
    """Start a process that must end by itself; return what the process says."""
    ended = subprocess.run(
        [*_CELERY, *words], cwd=_ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    return ended.stderr


@pytest.mark.parametrize("queue", ["p2.webhook", "ops", "tell", "expand"])
def test_a_worker_with_another_pool_names_the_command_with_threads(queue: str) -> None:
    told = _refusal("worker", "-Q", queue, "-c", "2", "--pool=solo")
    assert _COMMAND.format(queue, 2) in told


def test_a_worker_with_a_variable_number_of_threads_names_the_command() -> None:
    told = _refusal("worker", "-Q", "p2.webhook", "--autoscale=4,2")
    assert _COMMAND.format("p2.webhook", 4) in told


def test_a_beat_with_another_scheduler_names_the_command(tmp_path: Path) -> None:
    scheduler = ("--scheduler=celery.beat:PersistentScheduler", f"--schedule={tmp_path / 'beat'}")
    assert _refusal("beat", *scheduler).endswith("Start it with: celery -A notifyproj beat\n")


@pytest.mark.parametrize("words", [(), ("--pool=prefork",)])
def test_a_worker_has_threads_without_an_option(words: tuple[str, ...], tmp_path: Path) -> None:
    worker = Child("worker", log=tmp_path / "log")
    command = [*_CELERY, "worker", "-Q", "p2.webhook", "-c", "2", *words]
    worker.spawn(command, folder=_ROOT, environ=dict(os.environ))
    try:
        while "concurrency:" not in worker.log.read_text():
            assert not worker.wait_for_end(0.05), worker.last_log_line()
        assert "concurrency: 2 (thread)" in worker.log.read_text()
    finally:
        worker.kill()
