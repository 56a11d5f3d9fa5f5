"""A process that leads a session; the base of the demo's processes and of `all_in_one`.

Promise 1: no process outlives its supervisor. Promise 2: no process that a child has started
outlives the child. After a SIGKILL of the supervisor the Linux kernel stops the children: each
child requests a signal at its parent's death (prctl, PR_SET_PDEATHSIG). Neither promise holds on
other kernels. Promise 1 does not hold for a child started from a thread, because Linux sends the
signal at the death of the parent *thread*.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from notifyproj.processes import forked

_PR_SET_PDEATHSIG: Final = 1
"""From <linux/prctl.h>."""
_LOOK_SECONDS: Final = 0.01
"""Pause between two checks for the end of a process."""
_KILL_SECONDS: Final = 10.0
"""Longest wait after SIGKILL; a process in uninterruptible I/O may take longer."""

Started = subprocess.Popen[bytes] | forked.Forked


class Leader:
    """A process that leads a session; a process that has ended can be started again.

    Ctrl-C at the terminal reaches the supervisor only, which stops the children in the right order.
    A Leader is not safe for use by two threads at once.
    """

    stop_signal: signal.Signals = signal.SIGTERM
    """Signal for a clean end."""
    stop_seconds: float = 20.0
    """Longest time for a clean end; SIGKILL follows."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._process: Started | None = None
        self._asked = False

    @property
    def pid(self) -> int | None:
        """The process's id; None: the process is down."""
        process = self._process
        return process.pid if process is not None and not _has_ended(process) else None

    @property
    def exit_code(self) -> int | None:
        """The exit code, or minus the number of the signal that ended the process.

        None: the process runs or was not started.
        """
        if self._process is None or not _has_ended(self._process):
            return None
        return self._process.returncode

    def fork(
        self,
        work: Callable[[], None],
        *,
        output: int,
        folder: Path,
        environ: Mapping[str, str],
        title: str,
    ) -> None:
        """Do `work` in a fork of this process, which `ps` shows as `title`; see `forked`.

        `output` is the descriptor for standard output and errors. The death of this process kills
        the fork and its children. The environment of a fork is not readable in `/proc`.
        """
        self._asked = False
        tie = die_with_parent(signal.SIGKILL)
        # Until the fork has handlers of its own, a signal to stop would run those of this process.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})

        def begin() -> None:
            if tie is not None:
                tie()
            forked.settle(output=output, folder=folder, environ=environ, title=title)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            work()

        try:
            self._process = forked.Forked(begin)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def ask_to_stop(self) -> None:
        """Send the stop signal once, without waiting for the end; `stop` must follow."""
        if self._process is not None and self.pid is not None and not self._asked:
            self._asked = True
            self._process.send_signal(self.stop_signal)

    def stop(self) -> None:
        """Send the stop signal and wait; kill the process after `stop_seconds`.

        Has no effect on a process that is down.
        """
        self.ask_to_stop()
        if not self.wait_for_end(self.stop_seconds):
            self.kill()

    def kill(self) -> None:
        """Send SIGKILL to the process and its children, without a clean end, and wait."""
        if self.pid is not None:
            self.signal(signal.SIGKILL)
            self.wait_for_end(_KILL_SECONDS)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and its children (SIGSTOP, SIGCONT, SIGKILL).

        On Linux no thread of the process runs after SIGSTOP; its children may run a moment longer.

        Raises:
            ProcessLookupError: the process is down.
        """
        pid = self.pid
        if pid is None:
            raise ProcessLookupError(f"{self.name} is down")
        os.killpg(pid, number)
        if number == signal.SIGSTOP and sys.platform == "linux":
            # The kernel stops a thread at a time, and a server could still answer meanwhile.
            os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def wait_for_end(self, seconds: float) -> bool:
        """Wait for the end; return False if the process still runs after `seconds`."""
        if self._process is None:
            return True
        deadline = time.monotonic() + seconds
        while not _has_ended(self._process):
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, _LOOK_SECONDS))  # noqa: TID251 - this is a supervisor, not a worker
        return True


def _has_ended(process: Started) -> bool:
    """Return True after the end of a process; kill the running children of the process first.

    A killed main process leaves its children: the child of a web server would keep the port. The
    children are killed while the main process is a zombie, because until the wait for the zombie no
    other process group can have the same number.
    """
    if process.returncode is None and sys.platform == "linux":
        try:
            ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return process.poll() is not None  # SIGCHLD is ignored by inheritance: the kernel waits
        if ended is None:
            return False
        os.killpg(process.pid, signal.SIGKILL)
    return process.poll() is not None


def die_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """Return the child's code before `exec`, which requests `number` at this process's death."""
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return None
    # Loaded before the fork: after the fork, the child of a threaded parent must load no library.
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:  # the parent died between fork and prctl: no signal would follow
            os.kill(os.getpid(), signal.SIGKILL)

    return tie
