"""A child process with a log file; the base of `servers` and `supervisor`.

`notifyproj.processes.leader` has the promises about the end of a process.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from signal import Signals
from typing import Final

from notifyproj.processes.leader import Leader, die_with_parent

_PRELOAD: Final = ("LD_PRELOAD", "CLOCK_OFFSET")
"""Variables of preloaded libraries; `.ci/clock.c` reads CLOCK_OFFSET."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """User and group id of a child process."""

    uid: int
    gid: int


class Child(Leader):
    """A process and its log file; a child that has ended can be started again."""

    leash_signal: Signals | None = None
    """Signal of the kernel to the child at the death of this process; None: `stop_signal`."""

    def __init__(self, name: str, *, log: Path) -> None:
        super().__init__(name)
        self.log = log

    def spawn(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        environ: Mapping[str, str],
        account: Account | None = None,
        standard_input: bytes = b"",
    ) -> None:
        """Start `command` in `folder` and append the output to the log."""
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
                preexec_fn=die_with_parent(self.leash_signal or self.stop_signal),  # noqa: PLW1509 - one system call, no locks
            )
        _feed(self._process, standard_input)

    def last_log_line(self) -> str:
        """Return the log's last line about a fatal error or a full disk, else the last line."""
        lines = [line.strip() for line in self.log.read_text(errors="replace").splitlines()]
        spoken = [line for line in lines if line] or ["it said nothing"]
        telling = [line for line in spoken if "FATAL" in line or "No space left" in line]
        return (telling or spoken)[-1]


def preload_variables() -> dict[str, str]:
    """Return the variables that preload the caller's library (an allocator, a clock)."""
    return {name: os.environ[name] for name in _PRELOAD if name in os.environ}


def _feed(process: subprocess.Popen[bytes], text: bytes) -> None:
    """Write `text` to the standard input of the process and close the input."""
    if process.stdin is None:
        return
    try:
        with process.stdin as stream:
            stream.write(text)
    except BrokenPipeError:
        return  # the process has ended: the log has the reason
