"""Limits for the threads of a process which wait for request bodies.

A burst of well-behaved callers must not be refused: their bodies arrive at once. Therefore a thread
counts against a limit only after waiting for MOMENT_SECONDS. Of the slow threads

    clients without a recognised key    may hold a quarter, a single address a sixteenth
    callers with a key                  may hold three eighths, a single key a quarter

and clients without a key never hold more than three quarters of all threads, slow or not. The body
of a refused request is not read: the response is a 503 with Retry-After of a second.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Final

from notifications.core import clock
from notifications.core.api.body_limits import KIBIBYTE, MEBIBYTE
from notifications.core.api.problems import TooManyReaders

MOMENT_SECONDS: Final = 0.25
"""A body of a well-behaved caller arrives within this time, on a busy machine too."""
_MOST_BYTES: Final = 256 * MEBIBYTE
"""Maximum bytes of large bodies in the memory of the process: sixteen bodies of the largest size.
"""
_SMALL: Final = 64 * KIBIBYTE
"""A body up to this size in bytes is always read. A request for an OTP is a thousandth of the size.
"""
_STRANGERS: Final = "strangers"
_CALLERS: Final = "callers"


class Readers:
    """Counts the threads which wait for bodies. Thread-safe."""

    def __init__(self, threads: int) -> None:
        """Compute the limits from the number of threads of the process."""
        self._most = {_STRANGERS: threads // 4, _CALLERS: threads * 3 // 8}
        self._most_of_one = {_STRANGERS: max(1, threads // 16), _CALLERS: threads // 4}
        self._most_strangers = threads * 3 // 4
        self._bytes = 0
        self._since: defaultdict[str, list[float]] = defaultdict(list)
        """Name of the waiting client -> start times of the waits, in monotonic seconds."""
        self._lock = threading.Lock()

    def enter(self, *, caller: str, address: str, size: int) -> float:
        """Count a thread which starts to wait for a body; return the start time for `leave`.

        Args:
            caller: prefix of the recognised key; empty without a key.
            address: address of the client.
            size: bytes of the body.

        Raises:
            TooManyReaders: the limit is reached.
        """
        name, kind = (caller, _CALLERS) if caller else (address, _STRANGERS)
        now = clock.monotonic()
        with self._lock:
            if (
                (size > _SMALL and self._bytes and self._bytes + size > _MOST_BYTES)
                or self._slow(name, now) >= self._most_of_one[kind]
                or self._slow(kind, now) >= self._most[kind]
                or (not caller and len(self._since[kind]) >= self._most_strangers)
            ):
                raise TooManyReaders("too many bodies are being read; try again")
            self._bytes += size
            self._since[name].append(now)
            self._since[kind].append(now)
        return now

    def leave(self, since: float, *, caller: str, address: str) -> None:
        """Count a thread which has stopped waiting."""
        name, kind = (caller, _CALLERS) if caller else (address, _STRANGERS)
        with self._lock:
            self._since[kind].remove(since)
            self._since[name].remove(since)
            if not self._since[name]:
                del self._since[name]

    def forget(self, size: int) -> None:
        """Release the memory count of a body after the response."""
        with self._lock:
            self._bytes -= size

    def _slow(self, name: str, now: float) -> int:
        """Return the number of threads which have waited for longer than MOMENT_SECONDS."""
        waiting = self._since.get(name)
        if not waiting or waiting[0] > now - MOMENT_SECONDS:
            return 0
        return sum(since <= now - MOMENT_SECONDS for since in waiting)
