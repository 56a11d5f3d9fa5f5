"""A process that we start, log, signal and stop: the ground of `embedded` and `supervisor`.

The promise: no server or worker outlives us, however we end. A supervisor that is killed with
SIGKILL can stop nothing, but on Linux the kernel can: each child asks for a signal at its parent's
death (prctl, PR_SET_PDEATHSIG). What breaks it: other kernels, and a child started from a thread,
because Linux means the parent *thread*; both get no such leash.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
"""From <linux/prctl.h>."""
_KILL_SECONDS: Final = 10.0
"""SIGKILL needs no help from the process; only a kernel stuck in I/O takes longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A system user to run as."""

    uid: int
    gid: int


class Child:
    """One process and its log file. It can be started again after it ended.

    It leads a session of its own: Ctrl-C at the terminal is for the supervisor, which stops its
    children in the right order. Not safe for use by two threads at once.
    """

    stop_signal: signal.Signals = signal.SIGTERM
    """Asks it for a clean end."""
    stop_seconds: float = 20.0
    """How long it may take for that before it is killed."""

    def __init__(self, name: str, *, log: Path) -> None:
        self.name = name
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._asked = False

    @property
    def pid(self) -> int | None:
        """The process's id; None while it is down."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    @property
    def exit_code(self) -> int | None:
        """As `subprocess` gives it: minus the signal's number when a signal ended it."""
        return None if self._process is None else self._process.poll()

    def spawn(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        environ: Mapping[str, str],
        account: Account | None = None,
        standard_input: bytes = b"",
    ) -> None:
        """Start `command` in `folder`, its output appended to the log."""
        self._asked = False  # a second SIGQUIT would make a Celery worker drop its tasks at once
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
                preexec_fn=_leash(self.stop_signal),  # noqa: PLW1509 - one system call, no locks
            )
        _feed(self._process, standard_input)

    def ask_to_stop(self) -> None:
        """Ask it to end, without waiting: `stop` must follow. Asking twice does no harm."""
        if self._process is not None and self.pid is not None and not self._asked:
            self._asked = True
            self._process.send_signal(self.stop_signal)

    def stop(self) -> None:
        """Ask it to end and wait; kill it when it takes too long. Does nothing when it is down."""
        self.ask_to_stop()
        if not self.ended_within(self.stop_seconds):
            self.kill()

    def kill(self) -> None:
        """SIGKILL for it and the processes it started: nothing is flushed, nobody is told."""
        if self.pid is not None:
            self.signal(signal.SIGKILL)
            self.ended_within(_KILL_SECONDS)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to it and the processes it started (SIGSTOP, SIGCONT, SIGKILL).

        Raises:
            ProcessLookupError: it is down.
        """
        pid = self.pid
        if pid is None:
            raise ProcessLookupError(f"{self.name} is down")
        os.killpg(pid, number)

    def ended_within(self, seconds: float) -> bool:
        """Wait for its end; False when it still runs after `seconds`. True when it is down."""
        if self._process is None:
            return True
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def last_words(self) -> str:
        """The log's most telling line: the last that says what was fatal, else the last one."""
        lines = [line.strip() for line in self.log.read_text(errors="replace").splitlines()]
        spoken = [line for line in lines if line] or ["it said nothing"]
        telling = [line for line in spoken if "FATAL" in line or "No space left" in line]
        return (telling or spoken)[-1]


def _feed(process: subprocess.Popen[bytes], text: bytes) -> None:
    """Write what the process reads at its start and close its input."""
    if process.stdin is None:
        return
    try:
        with process.stdin as stream:
            stream.write(text)
    except BrokenPipeError:
        return  # it ended already: its log says why


def _leash(number: signal.Signals) -> Callable[[], None] | None:
    """What the child runs before its program, so that it gets `number` when this process dies."""
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return None
    # Loaded before the fork: after it, the child of a threaded parent must not load anything.
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if (
            os.getppid() != parent
        ):  # it died between fork and prctl: nobody would signal us any more
            os.kill(os.getpid(), signal.SIGKILL)

    return tie
