"""Rows that this session has read, and that a failover must not lose.

A session can read a row that is on no synchronous standby: the row of a claim, whose commit does
not wait, and after a restart of PostgreSQL each row whose commit waited for a standby. After a
failover the row is gone, and its transaction id belongs to another transaction. An answer that
promises the row to a client therefore waits for a commit of its own. WAL is written and sent in
order, so a standby that has this commit has each row that was read before.
"""

from __future__ import annotations

from notifications.core.store.postgres import db


def confirm() -> None:
    """Wait until each row that this session has read is on disk and on a synchronous standby.

    In an open transaction the wait takes place at its commit.

    Raises:
        OperationalError: the database is away, or the wait was cancelled.
    """
    db.run("confirm_reads", {})
