"""Advisory locks of Postgres: only one process at a time runs a part of a sweep."""

from __future__ import annotations

from notifications.store.postgres import db

_CLASS = 7_237_002
"""Lock class of the project's sweeps, apart from other advisory locks in the same database."""


def try_for_transaction(name: str) -> bool:
    """Take the named lock until the transaction ends; False if another process holds the lock.

    The lock belongs to the transaction, because a transaction pooler may run the session's next
    statement on another connection.
    """
    with db.cursor() as running:
        running.execute(
            "SELECT pg_try_advisory_xact_lock(%s, hashtext(%s)) AS taken", [_CLASS, name]
        )
        found = running.fetchone()
    return bool(found and found["taken"])
