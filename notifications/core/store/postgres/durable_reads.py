"""Rows that a session has read, and that a failover must not lose.

A session can read a row that no synchronous standby has: the row of a claim, whose commit does not
wait, and after a restart of PostgreSQL each row whose commit waited for a standby. After a failover
the row is gone, and another transaction gets the transaction id of the row. Therefore an answer
that promises the row to a client waits for a further commit. WAL is written and sent in order, so a
standby with the further commit has all rows that were read before.
"""

from __future__ import annotations

from notifications.core.store.postgres import db


def confirm() -> None:
    """Wait until all rows that the session has read are on disk and on a synchronous standby.

    In an open transaction the wait takes place at the commit.

    Raises:
        OperationalError: the database is away, or the wait was cancelled.
    """
    db.run("confirm_reads", {})
