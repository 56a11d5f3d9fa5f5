"""Starts the processes, starts each one again that ends, and stops all of them.

A process that ends is forked again at once, and after a repeated end with a pause that doubles up
to 15 seconds. The other processes go on: P0 works while Flower cannot start. The file `wrong` has a
line for each process that is down, was down lately or does not answer, for the health check of the
container and `/readyz` (`notifications.core.supervised`). The file is empty while all processes run
and answer, and stale when the supervisor is stuck.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Final

from notifyproj.all_in_one.output import Output
from notifyproj.all_in_one.programs import ForkedProgram
from notifyproj.processes.leader import Leader
from notifyproj.processes.probe import answers

ROOT: Final = Path(__file__).resolve().parents[2]
_WATCH_SECONDS: Final = 0.3
"""Pause between two looks at the processes."""
_PROBE_SECONDS: Final = 10.0
"""Pause between two questions to the pages of the processes."""
_CALM_SECONDS: Final = 60.0
"""A process that has run for this time is well again."""
_LONGEST_PAUSE_SECONDS: Final = 15.0
"""Before a restart."""
_STOP_SECONDS: Final = 45.0
"""Time for the calls in flight: above twice the longest deadline of a call, below each lease."""
_LAST_LINES_SECONDS: Final = 2.0


class SupervisedProcess(Leader):
    """A process of the table, a fork of this process."""

    def __init__(
        self, program: ForkedProgram, *, output: Output, environ: Mapping[str, str]
    ) -> None:
        super().__init__(program.name)
        self._program = program
        self._output = output
        self._environ = environ
        self._pause = 0.0
        """Seconds between the next end and the start after it."""
        self._ends = 0
        """Ends since the process last ran for `_CALM_SECONDS`."""
        self._started_at = 0.0
        self._restart_at: float | None = None
        """The time of the next start; None: the process runs."""

    def start(self) -> None:
        """Start the process; without memory or process ids for a fork, try again later."""
        self._restart_at = None
        self._started_at = time.monotonic()
        try:
            self.fork(
                self._program.run,
                output=self._output.descriptor(self.name),
                folder=ROOT,
                environ=self._environ,
                title=" ".join(["notify", self.name, *self._program.arguments]),
            )
        except OSError as error:
            self._restart_at = self._started_at + _LONGEST_PAUSE_SECONDS
            self._output.say("fork_failed", level="error", name=self.name, error=str(error))

    def mend(self) -> None:
        """Restart the process after an end and the pause."""
        now = time.monotonic()
        if self.pid is not None:
            if now - self._started_at >= _CALM_SECONDS:
                self._ends, self._pause = 0, 0.0
        elif self._restart_at is None:
            self._ends += 1
            self._restart_at = now + self._pause
            self._output.say(
                "process_ended",
                level="error",
                name=self.name,
                exit_code=self.exit_code,
                restart_after_seconds=self._pause,
            )
            self._pause = min(max(1.0, 2 * self._pause), _LONGEST_PAUSE_SECONDS)
        elif now >= self._restart_at:
            self.start()

    def find_fault(self) -> str:
        """Return the fault of the process; empty: nothing."""
        if self._restart_at is not None:
            return f"{self.name} is down: its last exit code is {self.exit_code}"
        if self._ends:
            return f"{self.name} ended {self._ends} times and was started again less than 60 s ago"
        port, path = self._program.port, self._program.path
        if port is not None and not answers(port, path):
            return f"{self.name} does not answer {path}"
        return ""


class Supervisor:
    """Runs processes until a signal to stop."""

    def __init__(
        self,
        programs: Sequence[ForkedProgram],
        *,
        output: Output,
        environ: Mapping[str, str],
        wrong: Path,
    ) -> None:
        """`environ`: of the processes; `wrong`: the file of the fault."""
        self._processes = [
            SupervisedProcess(each, output=output, environ=environ) for each in programs
        ]
        self._output = output
        self._wrong = wrong
        self._is_stopping = False

    def run(self) -> None:
        """Run the processes until SIGTERM or SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._note_stop)
        self._output.say("starting", level="info")
        for process in self._until_stop(self._processes):
            process.start()
        probed_at = time.monotonic()
        self._write_wrong(["starting"])
        while not self._is_stopping:
            self._output.pass_on(seconds=_WATCH_SECONDS)
            for process in self._until_stop(self._processes):
                process.mend()
            if time.monotonic() - probed_at >= _PROBE_SECONDS:
                self._write_wrong([each.find_fault() for each in self._processes])
                probed_at = time.monotonic()
        self._stop()

    def _note_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._is_stopping = True

    def _until_stop(self, processes: Sequence[SupervisedProcess]) -> Iterator[SupervisedProcess]:
        for process in processes:
            if self._is_stopping:
                return
            yield process

    def _write_wrong(self, faults: Sequence[str]) -> None:
        """Replace the file by lines of the faults that are not empty."""
        part = self._wrong.with_suffix(".part")
        with suppress(OSError):  # a full disk: the file becomes stale, and the container unhealthy
            part.write_text("".join(f"{fault}\n" for fault in faults if fault))
            part.replace(self._wrong)

    def _stop(self) -> None:
        """Ask all processes to stop; kill those that run on after the time to stop."""
        self._output.say("stopping", level="info")
        for process in self._processes:
            process.ask_to_stop()
        deadline = time.monotonic() + _STOP_SECONDS
        while running := [each for each in self._processes if each.pid is not None]:
            if time.monotonic() >= deadline:
                names = [each.name for each in running]
                self._output.say("killed_after_time_to_stop", level="error", names=names)
                break
            self._output.pass_on(seconds=_WATCH_SECONDS)
        for process in self._processes:
            process.kill()
        self._wrong.unlink(missing_ok=True)
        self._output.drain(seconds=_LAST_LINES_SECONDS)
