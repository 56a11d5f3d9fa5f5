"""How many threads of this process may wait for clients' bodies at the same time.

A burst of good callers is no attack: their bodies come at once, however many there are. So a thread
counts against a limit only after it has waited for a moment. Of the threads that have,

    strangers (no key was recognised)   hold a quarter; one address a sixteenth
    callers                             hold three eighths; one key a quarter

and strangers never hold more than three quarters, however short they wait. What is refused was not
read: the caller is told to come back in a second.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Final

from notifications import clock
from notifications.api.body_limits import KIBIBYTE, MEBIBYTE
from notifications.api.problems import TooManyReaders

MOMENT_SECONDS: Final = 0.25
"""Within it the body of a caller who means well has come, also on a busy machine."""
_MOST_BYTES: Final = 256 * MEBIBYTE
"""Bytes of large bodies that this process holds: sixteen of the largest."""
_SMALL: Final = 64 * KIBIBYTE
"""Bytes of a body that is read however many large ones are held: an OTP is a thousandth of it."""
_STRANGERS: Final = "strangers"
_CALLERS: Final = "callers"


class Readers:
    """Counts the threads that wait. Safe from several threads."""

    def __init__(self, threads: int) -> None:
        """Share out the threads of this process."""
        self._most = {_STRANGERS: threads // 4, _CALLERS: threads * 3 // 8}
        self._most_of_one = {_STRANGERS: max(1, threads // 16), _CALLERS: threads // 4}
        self._most_strangers = threads * 3 // 4
        self._bytes = 0
        self._since: defaultdict[str, list[float]] = defaultdict(list)
        """Whoever waits -> when each of their threads began to, in monotonic seconds."""
        self._lock = threading.Lock()

    def enter(self, *, caller: str, address: str, size: int) -> float:
        """Begin to wait for a body; returns what `leave` wants to know.

        Args:
            caller: prefix of the key that was recognised; empty for a stranger.
            address: of the client.
            size: bytes of the body.

        Raises:
            TooManyReaders: this one would be one too many.
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
        """The body is there, or will not come."""
        name, kind = (caller, _CALLERS) if caller else (address, _STRANGERS)
        with self._lock:
            self._since[kind].remove(since)
            self._since[name].remove(since)
            if not self._since[name]:
                del self._since[name]

    def forget(self, size: int) -> None:
        """The body of a request that was answered takes no memory any more."""
        with self._lock:
            self._bytes -= size

    def _slow(self, name: str, now: float) -> int:
        """How many threads have waited for longer than a moment. The first began first."""
        waiting = self._since.get(name)
        if not waiting or waiting[0] > now - MOMENT_SECONDS:
            return 0
        return sum(since <= now - MOMENT_SECONDS for since in waiting)
