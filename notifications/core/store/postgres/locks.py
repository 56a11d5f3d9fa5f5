"""Advisory locks of Postgres.

Only one process at a time runs a part of a sweep, changes the opt-out of an address, or merges
recipients.
"""

from __future__ import annotations

from collections.abc import Collection

from notifications.core.store.postgres import db

_CLASS = 7_237_002
"""Lock class of the project, apart from other advisory locks in the same database."""


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


def wait_for_transaction(names: Collection[str]) -> None:
    """Take the named locks until the transaction ends; waits for other transactions.

    Raises:
        OperationalError: a transaction kept a lock for longer than lock_timeout.
    """
    with db.cursor() as running:
        for name in sorted(names):
            running.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [_CLASS, name])


def share_for_transaction(name: str) -> None:
    """Take the named lock as a shared lock, until the transaction ends.

    Waits for a transaction with the exclusive lock (`wait_for_transaction`).

    Raises:
        OperationalError: a transaction kept the lock for longer than lock_timeout.
    """
    with db.cursor() as running:
        running.execute("SELECT pg_advisory_xact_lock_shared(%s, hashtext(%s))", [_CLASS, name])
