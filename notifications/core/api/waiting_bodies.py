"""Limit of the memory of single requests that wait for their group.

A request of the short path holds no thread while it waits, so only NOTIFY_WEB_CONNECTIONS limits
the requests that wait while PostgreSQL is slow. The limit here is in bytes, because a decoded body
takes a multiple of the bytes of its JSON: an empty object has 2 bytes and takes 64.

A body up to SMALL is always taken, so a large body does not delay a one-time password.
"""

from __future__ import annotations

import datetime as dt
import threading
from typing import Final

from notifications.core.api import json_io, problems
from notifications.core.api.body_limits import KIBIBYTE, MEBIBYTE
from notifications.core.rules.problems import Kind, Problem
from notifications.core.telemetry import instruments

SMALL: Final = 2 * KIBIBYTE
"""Bytes of a body that is always taken; a request for a one-time password has 500."""
MOST_BYTES: Final = 32 * MEBIBYTE
"""Maximum bytes of the bodies of a process that wait, without the small ones: 512 of 64 KiB."""
_WAIT: Final = dt.timedelta(seconds=1)
_FULL: Final = Problem(
    Kind.UNAVAILABLE,
    "too many large requests wait for the database; this request was not stored",
    retry_after=_WAIT,
)

Response = tuple[int, list[tuple[str, str]], bytes]
"""Status, headers and body."""


class WaitingBodies:
    """Counts the bytes of the bodies whose requests wait. Thread-safe."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        """Create the count with a maximum in bytes."""
        self._most = most
        self._bytes = 0
        self._lock = threading.Lock()

    def enter(self, size: int) -> bool:
        """Count a body of `size` bytes; return False, and count nothing, above the limit."""
        if size <= SMALL:
            return True
        with self._lock:
            # One body has no other bodies to wait for.
            if self._bytes and self._bytes + size > self._most:
                instruments.BODIES_REFUSED.inc()
                return False
            self._bytes += size
        return True

    def leave(self, size: int) -> None:
        """Stop counting a body that `enter` counted."""
        if size > SMALL:
            with self._lock:
                self._bytes -= size


def refusal(headers: list[tuple[str, str]], *, trace: str) -> Response:
    """Return the 503 of a request above the limit, as Django would answer with the problem.

    Args:
        headers: headers of an accepted request of the same shape.
        trace: trace id of the request.
    """
    body = json_io.encode(problems.body(_FULL) | {"instance": trace})
    own = {
        "Content-Type": problems.MEDIA_TYPE,
        "Content-Length": str(len(body)),
        "X-Request-Id": trace,
    }
    told = [(name, own.get(name, value)) for name, value in headers if name not in _OF_ACCEPTED]
    return int(_FULL.kind.status), [*told, ("Retry-After", f"{_WAIT.seconds}")], body


_OF_ACCEPTED: Final = frozenset({"RateLimit", "RateLimit-Policy"})
"""Headers of charged requests only."""
