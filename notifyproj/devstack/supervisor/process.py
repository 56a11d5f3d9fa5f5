"""A running program: start, wait until ready, signal, kill, log."""

from __future__ import annotations

import http.client
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final, assert_never

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.ports import LOOPBACK
from notifyproj.devstack.supervisor.programs import Answers, OutputShows, Ports, Program

ROOT: Final = Path(__file__).resolve().parents[3]
_PAUSE_SECONDS: Final = 0.1
"""Pause between two checks for readiness."""
_ANSWER_SECONDS: Final = 2.0
_OK: Final = 200


class ProcessFailed(Exception):
    """A process ended or was not ready in time; the message names the process and the log."""


class Process(Child):
    """A program of the table with an environment and ports.

    The log of the process is `<var>/log/<name>.log`; the process id of the latest start is in
    `<var>/run/<name>.pid`.
    """

    stop_seconds = 30.0  # a provider's longest deadline and the settling after it, twice

    def __init__(
        self, program: Program, *, ports: Ports, environ: Mapping[str, str], var: Path
    ) -> None:
        super().__init__(program.name, log=var / "log" / f"{program.name}.log")
        self.program = program
        self._ports = ports
        self._environ = environ
        self.leash_signal = program.leash
        self._pid_file = var / "run" / f"{program.name}.pid"
        self._log_start = 0

    def start(self) -> None:
        """Start the program without waiting; a running program stays."""
        if self.pid is not None:
            return
        for folder in (self.log.parent, self._pid_file.parent):
            folder.mkdir(parents=True, exist_ok=True)
        self._log_start = self.log.stat().st_size if self.log.exists() else 0
        self.spawn(self.program.command(self._ports), folder=ROOT, environ=self._environ)
        self._pid_file.write_text(str(self.pid))

    def shows(self, sign: Answers | OutputShows) -> bool:
        """Return True if the process shows `sign` now."""
        match sign:
            case Answers(port=name, path=path):
                return _answers(getattr(self._ports, name), path)
            case OutputShows(text=text):
                return text in self.text()
            case _ as unreachable:
                assert_never(unreachable)

    def wait_ready(
        self,
        *,
        sign: Answers | OutputShows | None = None,
        within: timedelta = timedelta(seconds=60),
    ) -> None:
        """Wait until the process shows `sign`, by default the program's sign of readiness.

        Raises:
            ProcessFailed: the process ended, or did not show the sign within the time `within`.
        """
        deadline = time.monotonic() + within.total_seconds()
        while not self.shows(sign or self.program.ready):
            if self.wait_for_end(_PAUSE_SECONDS):
                raise ProcessFailed(f"{self.name} ended at its start: {self.last_log_line()}")
            if time.monotonic() > deadline:
                raise ProcessFailed(f"{self.name} is not ready after {within}: see {self.log}")

    def text(self) -> str:
        """Return the log since the latest start."""
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")


def _answers(port: int, path: str) -> bool:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == _OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
