"""A process that begins as a fork of this one, with the modules that are loaded here.

Pages of memory that no process changes stay shared, and the process loads its modules in no time.
Only for Linux, and for a parent with one thread and without connections, which a fork would share.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NoReturn

_PR_SET_PDEATHSIG: Final = 1
"""From <linux/prctl.h>."""
_ARG_START, _ENV_END = 45, 48
"""Fields of /proc/self/stat after the name of the process."""
_FIRST_FREE: Final = 3
"""The lowest descriptor that is no standard stream."""


class Forked:
    """The part of `subprocess.Popen` that `Child` uses."""

    stdin: Final = None

    def __init__(self, begin: Callable[[], None]) -> None:
        """Fork; the new process calls `begin` and ends as an interpreter ends."""
        self.returncode: int | None = None
        _flush()
        self.pid = os.fork()
        if self.pid == 0:
            _run_and_exit(begin)

    def poll(self) -> int | None:
        """Return the exit code, or minus the number of the signal; None: the process runs."""
        if self.returncode is None:
            try:
                ended, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                self.returncode = 0  # SIGCHLD is ignored by inheritance: the kernel waits
            else:
                self.returncode = os.waitstatus_to_exitcode(status) if ended else None
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to the process if it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)


def settle(*, output: int, folder: Path, environ: Mapping[str, str], title: str) -> None:
    """Make a fork what `Popen` would: session, signals, descriptors, folder, environment, name.

    `output` is the descriptor for standard output and errors.
    """
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _replace_streams(output)
    os.closerange(_FIRST_FREE, os.sysconf("SC_OPEN_MAX"))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    _show(title)
    prctl = ctypes.CDLL(None).prctl
    os.register_at_fork(after_in_child=lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def _replace_streams(output: int) -> None:
    """Read nothing, and write each line at once; a stream that the parent has closed is opened."""
    log = fcntl.fcntl(output, fcntl.F_DUPFD, _FIRST_FREE)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(log, number)
        stream = getattr(sys, name) or os.fdopen(number, "w")
        stream.reconfigure(line_buffering=True, write_through=True)
        setattr(sys, name, stream)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _show(title: str) -> None:
    """Write the command line that `ps` shows over the arguments and variables of the parent.

    `os.environ` has set each variable again by now, so nothing reads the old place.
    """
    stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = int(stat[_ARG_START]), int(stat[_ENV_END])
    size = end - start
    ctypes.memmove(start, os.fsencode(title)[: size - 1].ljust(size, b"\0"), size)


def _run_and_exit(begin: Callable[[], None]) -> NoReturn:
    """Run `begin`, then what the interpreter runs at its end; the parent's code must not go on."""
    code = _code_of(begin)
    # An interpreter waits for its threads and runs the exit functions, after an error as well.
    # Neither function has a public name.
    code = _code_of(threading._shutdown) or code  # type: ignore[attr-defined]  # noqa: SLF001 - no public name
    code = _code_of(atexit._run_exitfuncs) or code  # noqa: SLF001 - no public name
    _flush()
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code)


def _code_of(work: Callable[[], object]) -> int:
    """Return the exit code that an interpreter would have after `work`."""
    try:
        work()
    except SystemExit as leaving:
        if leaving.code is None or isinstance(leaving.code, int):
            return leaving.code or 0
        sys.stderr.write(f"{leaving.code}\n")
    except KeyboardInterrupt:
        traceback.print_exc()
        return -signal.SIGINT
    except BaseException:  # noqa: BLE001 - whatever it is, the fork must end here
        traceback.print_exc()
    else:
        return 0
    return 1
