"""Disk: remembers for a moment that PostgreSQL had no space for a write.

A server with a full disk still answers reads, so only a failed write reveals the full disk. If the
server finds no room for its log (WAL), the server restarts and refuses each session: the refusal
has no SQLSTATE, only the system's text.
"""

from __future__ import annotations

import errno
import os
from typing import Final

import psycopg
import structlog
from psycopg.errors import DiskFull

from notifications.core import clock

FULL_FOR_SECONDS: Final = 10.0
"""Time for which a failed write counts. Afterwards a process takes requests again, and the next
failed write counts again."""

_NO_ROOM: Final = os.strerror(errno.ENOSPC)

_log = structlog.get_logger(__name__)


class _Failed:
    at = float("-inf")


_failed: Final = _Failed()


def note(error: BaseException) -> None:
    """Record and log a psycopg error about a full disk; other errors are ignored."""
    if isinstance(error, DiskFull) or (isinstance(error, psycopg.Error) and _NO_ROOM in str(error)):
        if not is_full():
            _log.error("database_disk_full", error=str(error)[:200])
        _failed.at = clock.monotonic()


def is_full() -> bool:
    """Return True if a write found no space on the disk in the last FULL_FOR_SECONDS."""
    return clock.monotonic() - _failed.at < FULL_FOR_SECONDS


def forget() -> None:
    """Forget failures."""
    _failed.at = float("-inf")
