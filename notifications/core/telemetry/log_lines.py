"""Non-blocking log output, and the log line of each provider call.

The reader of standard error may block: a full disk, a stuck log shipper, a paused terminal. A
direct write would then block a delivery. Therefore all lines of a process go to a bounded queue,
and a single thread writes the lines of some milliseconds together. A full queue drops further
lines; a later line reports the number of dropped lines.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

import orjson

from notifications.core import clock

_MOST_BYTES: Final = 16 * 1024 * 1024
"""Maximum bytes in the queue: some seconds of a busy worker."""
_TOGETHER_SECONDS: Final = 0.01
"""Time from a line to its write: the lines of this time cost one wake-up of the writer thread."""
_DRAIN_SECONDS: Final = 2.0
"""Seconds that an ending process waits until its lines are written."""
CALL: Final = {"event": "provider_call", "level": "info", "logger": "notifications.calls"}
"""Fields of the log line of each provider call."""
_REQUEST: Final = {"event": "request", "level": "info", "logger": "notifications.core.api"}
_OPTIONS: Final = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


class Lines:
    """A text stream over a file descriptor with a non-blocking `write`. Thread-safe.

    An instance works on both sides of a fork: each process starts its own writer thread.
    """

    def __init__(self, descriptor: int, *, most_bytes: int = _MOST_BYTES) -> None:
        self._descriptor = descriptor
        self._most_bytes = most_bytes
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._dropped = 0
        self._is_writing = False
        self._changed = threading.Condition()
        self._at_once = threading.Event()
        """Set while `drain` waits."""
        self._writer: threading.Thread | None = None
        os.register_at_fork(after_in_child=self._forget)
        atexit.register(self.drain, _DRAIN_SECONDS)

    def write(self, text: str) -> int:
        """Queue text; returns its length. Text over the limit is dropped and counted."""
        self.write_bytes(text.encode(errors="backslashreplace"))
        return len(text)

    def write_bytes(self, data: bytes) -> None:
        """Queue whole lines, or drop and count them."""
        with self._changed:
            if self._bytes + len(data) > self._most_bytes:
                self._dropped += data.count(b"\n")
                return
            self._waiting.append(data)
            self._bytes += len(data)
            if self._writer is None or not self._writer.is_alive():
                self._writer = threading.Thread(target=self._write, name="stderr", daemon=True)
                self._writer.start()
            self._changed.notify_all()

    def flush(self) -> None:
        """Do nothing, as logging handlers allow: the writer thread writes the queue."""

    def drain(self, seconds: float) -> bool:
        """Wait until all lines are written; returns False after a timeout of `seconds`."""
        self._at_once.set()
        try:
            with self._changed:
                return self._changed.wait_for(
                    lambda: not self._waiting and not self._is_writing, timeout=seconds
                )
        finally:
            self._at_once.clear()

    def _forget(self) -> None:
        self.__dict__.update(
            _waiting=deque(), _bytes=0, _dropped=0, _is_writing=False, _writer=None
        )
        self._changed, self._at_once = threading.Condition(), threading.Event()

    def _write(self) -> None:
        while True:
            with self._changed:
                self._is_writing = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: bool(self._waiting))
            self._at_once.wait(_TOGETHER_SECONDS)
            with self._changed:
                together = [*self._waiting, *self._drop_notice()]
                self._waiting.clear()
                self._bytes = 0
                self._is_writing = True
            try:
                _write_all(self._descriptor, b"".join(together))
            except OSError:
                continue  # standard error is closed, so the error cannot be reported

    def _drop_notice(self) -> list[bytes]:
        if not self._dropped:
            return []
        count, self._dropped = self._dropped, 0
        fields = {"event": "lines_dropped", "level": "warning", "logger": __name__, "count": count}
        return [orjson.dumps({**fields, "timestamp": clock.now()}, option=_OPTIONS)]


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


STDERR: Final = Lines(sys.__stderr__.fileno() if sys.__stderr__ else 2)
"""Standard error of the process, for logging handlers and `write_calls`."""


def write_request(fields: dict[str, Any]) -> None:
    """Write a `request` log line, without the logging framework, as `write_calls` does."""
    line = {**fields, **_REQUEST, "timestamp": clock.now()}
    STDERR.write_bytes(orjson.dumps(line, option=_OPTIONS))


def write_calls(lines: Sequence[dict[str, Any]]) -> None:
    """Write a `provider_call` log line for each dict of all fields, in the order of their names.

    The lines bypass the logging framework, which would cost as much as the provider calls at
    thousands of calls a second. A batch is one queue entry. The format equals other log lines
    (sorted JSON), and to sort the fields of each line would take a third of the time.
    """
    one_line = orjson.OPT_APPEND_NEWLINE
    STDERR.write_bytes(b"".join([orjson.dumps(line, option=one_line) for line in lines]))
