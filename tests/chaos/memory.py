"""Memory of the product's processes during a run: their anonymous memory, once a minute.

Of anonymous memory the proportional set size counts. The same of mapped files changes with the
other processes of the machine that map them, such as another run of the tests.
"""

from __future__ import annotations

import csv
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

import psutil

from tests.chaos.stage import VAR, Stage

_EVERY: Final = 60.0
_WARM: Final = 10
"""Minutes after which a process has to be flat."""
_TENTH: Final = 10
"""Minutes at both ends of the measured time whose medians are compared."""
_KIB_OF_MIB: Final = 1024


class Memory:
    """The samples of a run, also written to `memory.csv`."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._samples: dict[str, list[float]] = {name: [] for name in stage.processes}
        self._stopped = threading.Event()

    @contextmanager
    def sampled(self) -> Iterator[Self]:
        """Take samples in a thread while the context is open."""
        thread = threading.Thread(target=self._run, name="memory", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._stopped.set()
            thread.join()

    def table(self) -> Iterator[str]:
        """Return a line with the growth of each process; a run under half an hour has no line."""
        for name, sizes in self._samples.items():
            flat = sizes[_WARM:]
            if len(flat) < 2 * _TENTH:
                continue
            first, last = statistics.median(flat[:_TENTH]), statistics.median(flat[-_TENTH:])
            growth = (last - first) / (len(flat) - _TENTH)
            grown = f"{first:.1f} -> {last:.1f} MiB, {growth:+.3f} MiB a minute"
            yield f"  memory of {name:<16}  {grown}"

    def _run(self) -> None:
        began = time.monotonic()
        with (VAR / "memory.csv").open("w", buffering=1) as file:
            rows = csv.writer(file)
            rows.writerow(["minute", *self._samples])
            while not self._stopped.wait(_EVERY):
                sizes = {name: self._size(name) for name in self._samples}
                for name, size in sizes.items():
                    self._samples[name].append(size)
                minute = round((time.monotonic() - began) / _EVERY, 1)
                rows.writerow([minute, *(f"{size:.1f}" for size in sizes.values())])

    def _size(self, name: str) -> float:
        """The MiB of a process with its children; 0 while the process is away."""
        pid = self._stage.processes[name].pid
        if pid is None:
            return 0.0
        try:
            root = psutil.Process(pid)
            family = (root, *root.children(recursive=True))
            return sum(_anonymous(each.pid) for each in family) / _KIB_OF_MIB
        except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
            return 0.0


def _anonymous(pid: int) -> int:
    """Return the KiB of a process, with the share of pages that its relatives have as well."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    [size] = [line.split()[1] for line in lines if line.startswith("Pss_Anon:")]
    return int(size)
