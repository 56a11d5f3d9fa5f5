"""A later migration keeps no process of the release before waiting for a lock.

The tables have millions of rows, and old processes work while `migrate` runs. `migrate` waits at
most `lock_timeout` for a lock (`session_settings`, at the role of each), and a process too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Final

import psycopg
import pytest
from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently
from django.db import OperationalError, connection, models
from django.db.migrations.operations import (
    AddConstraint,
    AddIndex,
    AlterField,
    RemoveIndex,
    RunSQL,
)
from django.db.migrations.operations.base import Operation

from tests.architecture.migrations import later_operations

_BLOCKING: Final[dict[type[Operation], str]] = {
    AddIndex: "take AddIndexConcurrently",
    RemoveIndex: "take RemoveIndexConcurrently",
    AddConstraint: "take AddConstraintNotValid, and ValidateConstraint in the next migration",
    AlterField: "a new type or NOT NULL reads each row: add a column",
}
_AT_ONCE: Final = re.compile(
    r"CREATE (UNIQUE )?INDEX (?!CONCURRENTLY)(?!\S+ ON ONLY)", re.IGNORECASE
)
_QUICK: Final[dict[str, str]] = {
    "Alter field response on idempotencykey": "DROP NOT NULL reads no row",
    "Create constraint template_text_once on model templatetext": "few rows: at most 600 a version",
    "Alter field variants on bulkjob": "a help text, which is no SQL",
    "Create index template_attachments on field(s) attachments of model template": (
        "few rows: the versions of templates, of which none has attachments yet"
    ),
    "Alter field producer on attachment": "DROP NOT NULL reads no row",
}
"""Description of an operation -> why it reads no table with many rows."""


def _faults(operations: Iterable[Operation]) -> Iterator[str]:
    """Yield operations that lock a table during a read of all rows."""
    for each in operations:
        if each.describe() in _QUICK:
            continue
        if type(each) in _BLOCKING:  # the concurrent ones are subclasses
            yield f"{each.describe()}: {_BLOCKING[type(each)]}"
        if isinstance(each, RunSQL) and _AT_ONCE.search(str(each.sql)):
            yield f"{each.sql}: index each partition CONCURRENTLY, below an index ON ONLY the table"


def test_no_later_migration_locks_a_table_while_it_reads_it() -> None:
    assert list(_faults(later_operations())) == []


def test_such_a_migration_is_found() -> None:
    index = models.Index(fields=["at"], name="by_time")
    check = models.CheckConstraint(condition=models.Q(failed__gte=0), name="not_negative")
    blocking = [
        AddIndex("sweeprun", index),
        RemoveIndex("sweeprun", "by_time"),
        AddConstraint("sweeprun", check),
        AlterField("sweeprun", "failed", models.BigIntegerField()),
        RunSQL("CREATE INDEX by_time ON delivery (sent_at)"),
    ]
    fitting = [
        AddIndexConcurrently("sweeprun", index),
        AddConstraintNotValid("sweeprun", check),
        RunSQL("CREATE INDEX by_time ON ONLY delivery (sent_at)"),
        RunSQL("CREATE INDEX CONCURRENTLY by_time_1 ON delivery_20260101 (sent_at)"),
    ]
    assert len(list(_faults(blocking))) == len(blocking)
    assert list(_faults(fitting)) == []


@pytest.mark.django_db(transaction=True)
def test_a_migration_waits_two_seconds_for_a_lock_and_changes_nothing() -> None:
    table = "ALTER TABLE notifications_sweeprun ADD COLUMN of_a_test int"
    with closing(psycopg.connect(**connection.get_connection_params())) as reader:
        reader.execute("SELECT count(*) FROM notifications_sweeprun")
        with pytest.raises(OperationalError, match="lock timeout"), connection.cursor() as running:
            running.execute(table)
