"""Advisory locks of Postgres: one process at a time does a piece of a sweep's work."""

from __future__ import annotations

from notifications.store.postgres import db

_CLASS = 7_237_002
"""Sets the project's sweep locks apart from advisory locks of others in the same database."""


def try_for_transaction(name: str) -> bool:
    """Take the lock of this name until the transaction ends; False: another process holds it.

    A transaction's lock and not a session's, because a transaction pooler gives a session's next
    statement to another connection.
    """
    with db.cursor() as running:
        running.execute(
            "SELECT pg_try_advisory_xact_lock(%s, hashtext(%s)) AS taken", [_CLASS, name]
        )
        found = running.fetchone()
    return bool(found and found["taken"])
