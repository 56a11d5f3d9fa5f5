"""The sessions of all processes on the database server, for `/metrics`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from notifications.core.store.postgres import db


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """Sessions of the database now."""

    by_state: Mapping[str, int]
    """Sessions by PostgreSQL's state, such as `active`, `idle` and `idle in transaction`."""
    limit: int
    """Most sessions of the server."""


def load() -> Sessions:
    """Count the sessions.

    Raises:
        django.db.Error: the database is away.
    """
    rows = db.rows("database_sessions", {})
    return Sessions(by_state={row["state"]: row["sessions"] for row in rows}, limit=rows[0]["most"])
