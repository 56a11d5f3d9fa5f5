"""The processes of a run: restart of dead processes, and the stop in order."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Final

from notifyproj.devstack.supervisor.process import Process, ProcessFailed

_MOST_RESTARTS: Final = 5
_RESTART_SECONDS: Final = 60.0
"""Period of the counted restarts: a process with more restarts in a period has failed."""


class ProcessGroup:
    """Starts, restarts and stops processes; `report` gets a line for each change of a process.

    The first process serves the others, so the first process is stopped last.
    """

    def __init__(self, processes: Sequence[Process], *, report: Callable[[str], None]) -> None:
        self.processes = tuple(processes)
        self._report = report
        self._restarts: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=_MOST_RESTARTS))

    def start(self) -> None:
        """Start all processes and wait until each process is ready.

        Raises:
            ProcessFailed: a process ended, or was not ready in time.
        """
        for process in self.processes:
            process.start()
        for process in self.processes:
            process.wait_ready()
            self._report(f"{process.name} is ready (log: {process.log})")

    def restart_dead(self) -> None:
        """Restart the processes that have ended.

        Raises:
            ProcessFailed: a process ended a sixth time within a minute.
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
        """Stop the others at once, then the first process; kill a process after its timeout."""
        first, *others = self.processes
        for process in others:
            process.ask_to_stop()
        for process in (*others, first):
            process.stop()
