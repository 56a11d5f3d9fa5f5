"""Running programs: start, wait until ready, restart, signal, kill, log."""

from __future__ import annotations

import os
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final, assert_never

import psutil

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.supervisor.programs import Answers, OutputShows, Ports, Program
from notifyproj.processes.probe import answers

ROOT: Final = Path(__file__).resolve().parents[3]
_PAUSE_SECONDS: Final = 0.1
"""Pause between two checks for readiness."""

_VAR_MARK: Final = "DEMO_VAR"
_SUPERVISOR_MARK: Final = "DEMO_SUPERVISOR"
_KILL_SECONDS: Final = 10.0

_MOST_RESTARTS: Final = 5
_RESTART_SECONDS: Final = 60.0
"""Period of the counted restarts: a process with more restarts in a period has failed."""


class ProcessFailed(Exception):
    """A process ended or was not ready in time; the message names the process and the log."""


class Process(Child):
    """A program of the table with an environment and ports.

    The log of the process is `<var>/log/<name>.log`; the process id of the latest start is in
    `<var>/run/<name>.pid`.
    """

    stop_seconds = 30.0  # a provider's longest deadline and the settling after it, twice

    def __init__(
        self,
        program: Program,
        *,
        ports: Ports,
        environ: Mapping[str, str],
        var: Path,
        forks: bool = False,
    ) -> None:
        """`forks`: this process has loaded the app with `environ`; the first start is a fork.

        A later start is a new interpreter, which loads the code as it is then.
        """
        super().__init__(program.name, log=var / "log" / f"{program.name}.log")
        self.program = program
        self._ports = ports
        self.environ = environ
        self._forks = forks
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
        if self._forks:
            self._forks = False
            work = partial(self.program.run, self._ports)
            title = self.program.title(self._ports)
            with self.log.open("ab") as log:
                self.fork(work, output=log.fileno(), folder=ROOT, environ=self.environ, title=title)
        else:
            self.spawn(self.program.command(self._ports), folder=ROOT, environ=self.environ)
        self._pid_file.write_text(str(self.pid))

    def shows(self, sign: Answers | OutputShows) -> bool:
        """Return True if the process shows `sign` now."""
        match sign:
            case Answers(port=name, path=path):
                return answers(getattr(self._ports, name), path)
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


def mark(environ: Mapping[str, str], *, var: Path) -> dict[str, str]:
    """Return the environment of a child process, with the marks that identify a leftover."""
    return {**environ, _VAR_MARK: str(var), _SUPERVISOR_MARK: str(os.getpid())}


def kill_leftovers(var: Path) -> None:
    """Kill the processes of this folder without a living supervisor.

    Most processes end with the supervisor (see `child_process`). Exceptions are the child of a web
    server whose main process was killed in the same moment, and all processes on a kernel other
    than Linux. A leftover holds a port, or changes the data of the next run.

    Raises:
        ProcessFailed: a process does not end.
    """
    found = [process for process in psutil.process_iter() if _is_leftover(process, var=var)]
    for process in found:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue  # the process has ended
    _, alive = psutil.wait_procs(found, timeout=_KILL_SECONDS)
    if alive:
        raise ProcessFailed(f"Process {alive[0].pid} of an earlier run does not end: stop it.")


def _is_leftover(process: psutil.Process, *, var: Path) -> bool:
    try:
        environ = process.environ()
        if environ.get(_VAR_MARK) != str(var) or _SUPERVISOR_MARK not in environ:
            return False
        # Each program leads a session, and the supervisor is the leader's parent.
        leader = os.getsid(process.pid)
    except (psutil.Error, ProcessLookupError, PermissionError):
        return False  # the process has ended, or belongs to another user
    try:
        return psutil.Process(leader).ppid() != int(environ[_SUPERVISOR_MARK])
    except psutil.NoSuchProcess:
        return True
