"""All processes of a run, kept alive while we run and stopped in order at the end."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Final

from notifyproj.devstack.supervisor.process import Process, ProcessFailed

_MOST_RESTARTS: Final = 5
_RESTART_SECONDS: Final = 60.0
"""A process that ends more often than this within a minute will not get well by itself."""


class ProcessGroup:
    """Starts, mends and stops processes. `report` gets one line for each thing worth telling.

    The first process serves the others: it is stopped when they are gone.
    """

    def __init__(self, processes: Sequence[Process], *, report: Callable[[str], None]) -> None:
        self.processes = tuple(processes)
        self._report = report
        self._restarts: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=_MOST_RESTARTS))

    def start(self) -> None:
        """Start all and wait until each is ready; raises what `Process.wait_ready` raises."""
        for process in self.processes:
            process.start()
        for process in self.processes:
            process.wait_ready()
            self._report(f"{process.name} is ready (log: {process.log})")

    def restart_dead(self) -> None:
        """Start again what has ended.

        Raises:
            ProcessFailed: one of them ends again and again.
        """
        for process in self.processes:
            if process.pid is not None:
                continue
            history = self._restarts[process.name]
            now = time.monotonic()
            if len(history) == _MOST_RESTARTS and now - history[0] < _RESTART_SECONDS:
                raise ProcessFailed(
                    f"{process.name} ends again and again: {process.last_log_line()}"
                )
            history.append(now)
            self._report(f"{process.name} ended with {process.exit_code} and is started again")
            process.start()

    def stop(self) -> None:
        """Stop all at once, then the first; what does not end in time is killed."""
        first, *others = self.processes
        for process in others:
            process.ask_to_stop()
        for process in (*others, first):
            process.stop()
