"""Meaning of database errors for callers."""

from __future__ import annotations

from typing import Final

import psycopg
from django.db import InterfaceError, OperationalError

_LIMIT_EXCEEDED: Final = "54"
"""SQLSTATE class: a value is larger than an index or a row can be."""
_ENDED_SESSIONS: Final = frozenset({"25P03", "25P04"})
"""SQLSTATEs of a session that the server ended, as its transaction was idle or open too long."""


def is_away(error: Exception) -> bool:
    """Return True if the database did not take a statement, and may take it from a new session.

    psycopg names the end of an idle transaction an internal error, although only the session ends.
    """
    if isinstance(error, OperationalError | InterfaceError):
        return True
    cause = error.__cause__
    return isinstance(cause, psycopg.Error) and cause.sqlstate in _ENDED_SESSIONS


def is_lock_timeout(error: Exception) -> bool:
    """Return True if the statement waited for a locked row for longer than `lock_timeout`."""
    return isinstance(error.__cause__, psycopg.errors.LockNotAvailable)


def is_too_large(error: Exception) -> bool:
    """Return True if a value was too large to be stored.

    Django and psycopg name this error like a lost connection, but no retry can succeed.
    """
    cause = error.__cause__
    if not isinstance(error, OperationalError) or not isinstance(cause, psycopg.Error):
        return False
    return (cause.sqlstate or "").startswith(_LIMIT_EXCEEDED)
