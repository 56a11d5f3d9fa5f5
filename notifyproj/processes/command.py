"""Command lines of the processes, which an interpreter or a fork of the supervisor runs."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from typing import Final

CELERY: Final = ("-m", "celery", "-A", "notifyproj")
FLOWER: Final = (
    # An interpreter of Flower without Django takes 50 MiB less.
    *("-m", "celery", "--config=celeryconfig", "flower"),
    "--conf=notifyproj/flowerconfig.py",
)


def worker(name: str, *, queues: Sequence[str], concurrency: int) -> tuple[str, ...]:
    """Return the arguments of the interpreter for a worker."""
    return (
        *(*CELERY, "worker", f"--hostname={name}@%h", f"--queues={','.join(queues)}"),
        *("--pool=threads", f"--concurrency={concurrency}", "--loglevel=INFO"),
        *("--without-gossip", "--without-mingle"),  # messages between workers without a reader
        "--heartbeat-interval=10",  # for Flower: a worker that is silent for twenty is offline
    )


def run(arguments: Sequence[str]) -> None:
    """Run a program, `-m` and a module, in this process instead of an interpreter's."""
    _, module, *rest = arguments
    sys.argv = [module, *rest]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
