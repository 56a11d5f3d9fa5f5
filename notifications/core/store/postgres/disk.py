"""Disk: remembers for a moment that PostgreSQL had no space for a write.

A server with a full disk still answers reads, so only a failed write reveals the full disk.
"""

from __future__ import annotations

from typing import Final

from psycopg.errors import DiskFull

from notifications.core import clock

FULL_FOR_SECONDS: Final = 10.0
"""Time for which a failed write counts. Afterwards a process takes requests again, and the next
failed write counts again."""


class _Failed:
    at = float("-inf")


_failed: Final = _Failed()


def note(error: BaseException) -> None:
    """Record a psycopg error; errors without a full disk are ignored."""
    if isinstance(error, DiskFull):
        _failed.at = clock.monotonic()


def is_full() -> bool:
    """Return True if a write found no space on the disk in the last FULL_FOR_SECONDS."""
    return clock.monotonic() - _failed.at < FULL_FOR_SECONDS


def forget() -> None:
    """Forget failures."""
    _failed.at = float("-inf")
