"""A process that we start, log, signal and stop: the ground of `embedded` and `supervisor`.

The promises: no server or worker outlives its supervisor, and no process that a child has started
outlives that child. A supervisor that is killed with SIGKILL can stop nothing, but on Linux the
kernel can: each child asks for a signal at its parent's death (prctl, PR_SET_PDEATHSIG). Neither
promise holds on other kernels, and the first does not for a child started from a thread, because
Linux means the parent *thread*.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
"""From <linux/prctl.h>."""
_LOOK_SECONDS: Final = 0.01
"""Between two looks whether it has ended."""
_KILL_SECONDS: Final = 10.0
"""SIGKILL needs no help from the process; only a kernel stuck in I/O takes longer."""


_PRELOAD: Final = ("LD_PRELOAD", "CLOCK_OFFSET")
"""CLOCK_OFFSET is what `.ci/clock.c` reads."""


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
    leash_signal: signal.Signals | None = None
    """What it gets when this process is killed; None: `stop_signal`."""

    def __init__(self, name: str, *, log: Path) -> None:
        self.name = name
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._asked = False

    @property
    def pid(self) -> int | None:
        """The process's id; None while it is down."""
        process = self._process
        return process.pid if process is not None and not _has_ended(process) else None

    @property
    def exit_code(self) -> int | None:
        """As `subprocess` gives it: minus the signal's number when a signal ended it."""
        if self._process is None or not _has_ended(self._process):
            return None
        return self._process.returncode

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
                env={**preload_variables(), **environ},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
                preexec_fn=_die_with_parent(self.leash_signal or self.stop_signal),  # noqa: PLW1509 - one system call, no locks
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
        if not self.wait_for_end(self.stop_seconds):
            self.kill()

    def kill(self) -> None:
        """SIGKILL for it and the processes it started: nothing is flushed, nobody is told."""
        if self.pid is not None:
            self.signal(signal.SIGKILL)
            self.wait_for_end(_KILL_SECONDS)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to it and the processes it started (SIGSTOP, SIGCONT, SIGKILL).

        Raises:
            ProcessLookupError: it is down.
        """
        pid = self.pid
        if pid is None:
            raise ProcessLookupError(f"{self.name} is down")
        os.killpg(pid, number)

    def wait_for_end(self, seconds: float) -> bool:
        """Wait for its end; False when it still runs after `seconds`. True when it is down."""
        if self._process is None:
            return True
        deadline = time.monotonic() + seconds
        while not _has_ended(self._process):
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, _LOOK_SECONDS))  # noqa: TID251 - this is a supervisor, not a worker
        return True

    def last_log_line(self) -> str:
        """The log's most telling line: the last that says what was fatal, else the last one."""
        lines = [line.strip() for line in self.log.read_text(errors="replace").splitlines()]
        spoken = [line for line in lines if line] or ["it said nothing"]
        telling = [line for line in spoken if "FATAL" in line or "No space left" in line]
        return (telling or spoken)[-1]


def preload_variables() -> dict[str, str]:
    """The variables that preload the caller's library (an allocator, a clock) into a process."""
    return {name: os.environ[name] for name in _PRELOAD if name in os.environ}


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has ended. What it started, and left running, is killed first.

    A main process that is killed leaves its children: the child of a web server would keep the
    port. They are killed while the main process is a zombie, because until it is waited for no
    other group can have its number.
    """
    if process.returncode is None and sys.platform == "linux":
        try:
            ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return process.poll() is not None  # who started us ignores SIGCHLD: the kernel waits
        if ended is None:
            return False
        os.killpg(process.pid, signal.SIGKILL)
    return process.poll() is not None


def _feed(process: subprocess.Popen[bytes], text: bytes) -> None:
    """Write what the process reads at its start and close its input."""
    if process.stdin is None:
        return
    try:
        with process.stdin as stream:
            stream.write(text)
    except BrokenPipeError:
        return  # it ended already: its log says why


def _die_with_parent(number: signal.Signals) -> Callable[[], None] | None:
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
