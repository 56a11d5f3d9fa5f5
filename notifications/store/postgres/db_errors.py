"""Meaning of database errors for callers."""

from __future__ import annotations

import psycopg
from django.db import OperationalError

_LIMIT_EXCEEDED = "54"
"""SQLSTATE class: a value is larger than an index or a row can be."""


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
