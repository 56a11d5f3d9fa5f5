"""Numbers of processes that share a folder of metric files, such as the web processes of a host.

A process takes the lowest free number and holds the number's lock until the process ends; the
kernel frees the lock of a killed process. The next process continues the files of the freed number,
so a counter never goes backwards, and the folder has files for as many processes as ran at once.
"""

from __future__ import annotations

import fcntl
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable of prometheus_client: the folder of the files; unset: a single process."""


class ProcessNumber:
    """The number of the process in a folder. A child of a fork takes a further number."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: int | None = None
        self._number = 0
        self._lock = -1

    def current(self) -> int:
        """Return the number, from 0; takes a number at the first call in a process."""
        if self._process != os.getpid():
            self._take()
        return self._number

    def _take(self) -> None:
        if self._lock >= 0:  # the parent's: the parent keeps the lock by its own descriptor
            os.close(self._lock)
        for number in itertools.count():
            lock = os.open(self._folder / f"{number}.lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                continue
            self._lock, self._number, self._process = lock, number, os.getpid()
            return


def from_environment() -> Callable[[], int] | None:
    """Return the function that returns the number of the process; None without a folder."""
    folder = os.environ.get(FOLDER)
    return ProcessNumber(Path(folder)).current if folder else None
