"""Daily partitions of the four big tables: made ahead, dropped after retention.

There is no default partition, because its rows would block the partition that they belong to. Two
weeks are made ahead, at every boot and every hour; an insert without a partition makes its day and
tries again. A partition is built beside the table and attached, which does not stop writers.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, TypeVar

import psycopg
from django.db import IntegrityError, OperationalError, connection, transaction

from notifications import clock, conf
from notifications.rules import ids
from notifications.store import db

Answer = TypeVar("Answer")

TABLES: Final = {
    "notification": "id",
    "delivery": "id",
    "attempt": "delivery_id",
    "event": "notification_id",
}
DAYS_AHEAD: Final = 14
_DDL_TRIES: Final = 20
"""Each waits at most 200 ms for its lock, so that writers never queue behind a waiting DDL."""
_LOCK_KEY: Final = 7_237_001
"""Advisory lock: one process at a time changes partitions."""
_STORAGE: Final = {
    # Room on the page for the versions of a row that four updates leave.
    "delivery": "WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05)",
}


def ensure(today: dt.date, *, days: int = DAYS_AHEAD) -> int:
    """Make the missing partitions of `today` and the days after; returns how many days.

    Safe to run twice and from many processes.
    """
    wanted = [today + dt.timedelta(days=ahead) for ahead in range(days + 1)]
    attached = {(part.table, part.day) for part in _parts() if part.is_attached}
    missing = {day for day in wanted if any((table, day) not in attached for table in TABLES)}
    for day in sorted(missing):
        _with_short_locks(partial(_make, day))
    return len(missing)


def existing() -> list[dt.date]:
    """Return the days whose deliveries have a partition, oldest first."""
    attached = (part for part in _parts() if part.is_attached and not part.is_pending)
    return [part.day for part in attached if part.table == "delivery"]


def with_day(day: dt.date, work: Callable[[], Answer]) -> Answer:
    """Run an insert for rows of `day`; make a missing partition and run the insert again.

    Raises:
        IntegrityError: another violation, or a day that retention has dropped.
    """
    try:
        return work()
    except IntegrityError as error:
        if not isinstance(error.__cause__, psycopg.errors.CheckViolation) or is_past(day):
            raise
    ensure(day, days=0)
    return work()


def is_past(day: dt.date) -> bool:
    """Whether retention has dropped, or is about to drop, this day."""
    return day < clock.now().date() - conf.current().retention


def past() -> list[dt.date]:
    """Return the days before retention of which any table is left, oldest first."""
    return sorted({part.day for part in _parts() if is_past(part.day)})


def drop(day: dt.date) -> None:
    """Detach and drop the four tables of a day. DETACH CONCURRENTLY stops no writer.

    The detach waits for readers, at most for the session's lock_timeout; then it stays pending, and
    the next call finishes it. Large tables go first, and `delivery`, by which sweeps know a day,
    goes last.

    Raises:
        OperationalError: a reader has held one of the tables for too long.
    """
    found = _parts()
    for part in found:
        if part.is_pending:
            _execute(f"ALTER TABLE {part.table} DETACH PARTITION {part.name} FINALIZE")
    for table in reversed(TABLES):
        for part in found:
            if part.table == table and part.day == day:
                if part.is_attached and not part.is_pending:
                    _execute(f"ALTER TABLE {table} DETACH PARTITION {part.name} CONCURRENTLY")
                _execute(f"DROP TABLE IF EXISTS {part.name}")


class _Part(NamedTuple):
    """A table that is, or was, a day's partition."""

    table: str
    day: dt.date
    is_attached: bool
    is_pending: bool
    """A detach has begun and not ended."""

    @property
    def name(self) -> str:
        return f"{self.table}_{self.day:%Y%m%d}"


def _parts() -> list[_Part]:
    """Find tables by name, because a detached table has no other tie to its parent."""
    with db.cursor() as running:
        running.execute(
            "SELECT c.relname AS name, i.inhparent IS NOT NULL AS is_attached,"
            " coalesce(i.inhdetachpending, false) AS is_pending"
            " FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid"
            " WHERE c.relkind = 'r' AND c.relname ~ %s AND c.relnamespace ="
            " (SELECT relnamespace FROM pg_class WHERE oid = 'delivery'::regclass)"
            " ORDER BY c.relname",
            [f"^({'|'.join(TABLES)})_[0-9]{{8}}$"],
        )
        rows = running.fetchall()
    return [
        _Part(table, dt.date.fromisoformat(digits), row["is_attached"], row["is_pending"])
        for row in rows
        for table, _, digits in [row["name"].rpartition("_")]
    ]


def _execute(statement: str) -> None:
    # Names of our own tables: nobody's input can reach them.
    with connection.cursor() as running:
        running.execute(statement)


def _make(day: dt.date) -> None:
    low, high = ids.floor_of(day), ids.floor_of(day + dt.timedelta(days=1))
    with transaction.atomic(), connection.cursor() as running:
        running.execute("SET LOCAL lock_timeout = '200ms'")
        running.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK_KEY])
        for table, column in TABLES.items():
            name = f"{table}_{day:%Y%m%d}"
            running.execute("SELECT to_regclass(%s)", [name])
            found = running.fetchone()
            if found and found[0]:
                continue
            # The bound as a CHECK lets ATTACH believe it without reading the rows.
            running.execute(
                f"CREATE TABLE {name} (LIKE {table} INCLUDING ALL,"
                f" CONSTRAINT {name}_day CHECK ({column} >= '{low}' AND {column} < '{high}'))"
                f" {_STORAGE.get(table, '')}"
            )
            running.execute(
                f"ALTER TABLE {table} ATTACH PARTITION {name}"
                f" FOR VALUES FROM ('{low}') TO ('{high}')"
            )
            running.execute(f"ALTER TABLE {name} DROP CONSTRAINT {name}_day")


def _with_short_locks(change: Callable[[], None]) -> None:
    for tries_left in reversed(range(_DDL_TRIES)):
        try:
            change()
        except OperationalError as error:
            if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable) or not tries_left:
                raise
        else:
            return
