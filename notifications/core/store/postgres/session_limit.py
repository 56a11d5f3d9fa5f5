"""Limit of sessions: remembers for a moment that PostgreSQL or a pooler had no session left.

Programs beside the product may take all sessions (`max_connections`). The processes that have
sessions go on, and a process that needs a new session gets none. The refusal of a session has no
SQLSTATE in psycopg, only the server's text.
"""

from __future__ import annotations

from typing import Final

import psycopg
import structlog

from notifications.core import clock

REACHED_FOR_SECONDS: Final = 30.0
"""Time for which a refused session counts."""
SENTENCE: Final = (
    "the server has no session left: end those of other programs (pg_stat_activity), or raise"
    " max_connections"
)

_REFUSALS: Final = (
    "too many clients already",
    "connection slots are reserved",
    "too many connections for",
    "no more connections allowed",  # PgBouncer
)

_log = structlog.get_logger(__name__)


class _Refused:
    at = float("-inf")


_refused: Final = _Refused()


def note(error: BaseException) -> None:
    """Record and log a psycopg error about the limit of sessions; other errors are ignored."""
    if isinstance(error, psycopg.OperationalError) and any(
        each in str(error) for each in _REFUSALS
    ):
        if not is_reached():
            _log.error("database_sessions_used_up", error=str(error)[:200])
        _refused.at = clock.monotonic()


def is_reached() -> bool:
    """Return True if a session was refused in the last REACHED_FOR_SECONDS."""
    return clock.monotonic() - _refused.at < REACHED_FOR_SECONDS


def forget() -> None:
    """Forget refusals."""
    _refused.at = float("-inf")
