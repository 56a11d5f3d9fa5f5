"""A program at a terminal of its own (pty): the test reads the screen and types."""

from __future__ import annotations

import os
import pty
import select
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Final, Self

_PATIENCE_SECONDS: Final = 60.0
CTRL_C: Final = "\x03"
CTRL_D: Final = "\x04"


class AtTerminal:
    """Runs a program until it ends; leaves no process behind."""

    def __init__(self, command: Sequence[str], *, folder: Path, environ: Mapping[str, str]) -> None:
        self.screen = ""
        self._seen = 0
        self.pid, self._terminal = pty.fork()
        self._pid = self.pid
        if self._pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background job of a shell ignores it
            os.chdir(folder)
            os.execve(command[0], list(command), dict(environ))  # noqa: S606 - a fork with a terminal needs it

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._terminal)  # a program that still runs gets SIGHUP
        if self._pid:
            os.waitpid(self._pid, 0)

    def answer(self, question: str, typed: str) -> None:
        """Wait for a question behind what was read before, and type a line."""
        self.wait_for(question)
        self.type(f"{typed}\n")

    def type(self, text: str) -> None:
        self.type_bytes(text.encode())

    def type_bytes(self, text: bytes) -> None:
        os.write(self._terminal, text)

    def wait_for(self, text: str) -> None:
        while (found := self.screen.find(text, self._seen)) < 0:
            assert self._read(), f"{text!r} was not shown: {self.screen[self._seen :]}"
        self._seen = found + len(text)

    def exit_code(self) -> int:
        """Read to the end; return the exit code."""
        while self._read():
            pass
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        return os.waitstatus_to_exitcode(status)

    def _read(self) -> bool:
        end = monotonic() + _PATIENCE_SECONDS
        ready, _, _ = select.select([self._terminal], [], [], max(0.0, end - monotonic()))
        assert ready, f"nothing for {_PATIENCE_SECONDS:g} s: {self.screen[-500:]}"
        try:
            found = os.read(self._terminal, 65_536)
        except OSError:  # Linux's sign of the end
            return False
        self.screen += found.decode(errors="replace").replace("\r\n", "\n")
        return bool(found)
