"""The lines of the processes on standard output, each with the name of its process.

A process writes to a pipe of its own, so that lines of two processes are never mixed. A JSON line
gets the key `process`; another line, such as a traceback of a library, becomes the `event` of a
JSON line. While the reader of standard output is stuck, the supervisor reads no pipe, and the
processes drop lines (`notifications.core.telemetry`).
"""

from __future__ import annotations

import json
import os
import selectors
import time
from collections.abc import Iterable
from typing import Final

_READ_BYTES: Final = 64 * 1024
_MOST_WAITING: Final = 1024 * 1024
"""Unwritten bytes above which no pipe is read."""
_LONGEST_LINE: Final = 256 * 1024
"""Bytes above which a line is written in parts."""
_AT_ONCE: Final = 4096
"""Bytes of a write that does not block on a pipe which can be written (PIPE_BUF of Linux)."""


class Output:
    """Pipes of the processes and the lines that wait for standard output."""

    def __init__(self, names: Iterable[str], *, to: int) -> None:
        """Open a pipe for each name; `to` is the descriptor that gets the lines."""
        self._to = to
        self._waiting = bytearray()
        self._parts: dict[int, tuple[str, bytearray]] = {}
        self._ends: dict[str, int] = {}
        self._readable, self._writable = selectors.DefaultSelector(), selectors.SelectSelector()
        self._writable.register(to, selectors.EVENT_WRITE)
        for name in names:
            read, self._ends[name] = os.pipe()
            os.set_blocking(read, False)
            self._parts[read] = name, bytearray()
            self._readable.register(read, selectors.EVENT_READ)

    def descriptor(self, name: str) -> int:
        """Return the descriptor for the standard output of a process."""
        return self._ends[name]

    def say(self, event: str, **fields: object) -> None:
        """Write a line of the supervisor itself."""
        self._add("supervisor", json.dumps({"event": event, **fields}).encode())

    def pass_on(self, *, seconds: float) -> None:
        """Pass lines on for a number of seconds."""
        deadline = time.monotonic() + seconds
        while True:
            self._write()
            left = deadline - time.monotonic()
            if left <= 0:
                return
            if len(self._waiting) >= _MOST_WAITING:
                self._writable.select(left)
            else:
                self._read(left)

    def drain(self, *, seconds: float) -> None:
        """Pass on what is in the pipes, also lines without an end, while the reader takes them."""
        deadline = time.monotonic() + seconds
        while self._read(0):
            self._write()
        for name, part in self._parts.values():
            if part:
                self._add(name, bytes(part))
                part.clear()
        while self._waiting and (left := deadline - time.monotonic()) > 0:
            self._writable.select(left)
            self._write()

    def _read(self, seconds: float) -> bool:
        """Read each pipe with text; return False without any within a number of seconds."""
        found = self._readable.select(seconds)
        for key, _ in found:
            name, part = self._parts[key.fd]
            part += os.read(key.fd, _READ_BYTES)
            *lines, rest = part.split(b"\n")
            if len(rest) > _LONGEST_LINE:
                lines.append(rest)
                rest = bytearray()
            part[:] = rest
            for line in lines:
                self._add(name, bytes(line))
        return bool(found)

    def _add(self, name: str, line: bytes) -> None:
        text = line.strip()
        if not text:
            return
        if text.startswith(b'{"') and text.endswith(b"}"):
            self._waiting += b'{"process":"%b",%b\n' % (name.encode(), text[1:])
        else:
            event = {"process": name, "event": text.decode(errors="replace")}
            self._waiting += json.dumps(event).encode() + b"\n"

    def _write(self) -> None:
        while self._waiting and self._writable.select(0):
            try:
                written = os.write(self._to, self._waiting[:_AT_ONCE])
            except OSError:  # the reader has gone, or its disk is full: the processes go on
                written = len(self._waiting)
            del self._waiting[:written]
