"""Daily partitions of the four big tables: made ahead, dropped after retention.

There is no default partition, because rows that fell into one would block the partition that they
belong to. So two weeks are made ahead, at every boot and every hour; and an insert that still finds
none (`beat` was dead for three weeks) makes its day and tries again. A partition is built beside
the table and attached, which does not stop writers.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

import psycopg
from django.db import IntegrityError, OperationalError, connection, transaction

from notifications import clock
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
RETENTION_DAYS: Final = 90
_DDL_TRIES: Final = 20
"""Each waits at most 200 ms for its lock, so that writers never queue behind a waiting DDL."""
_LOCK_KEY: Final = 7_237_001
"""Of the advisory lock that lets one process at a time change partitions."""
_STORAGE: Final = {
    # Room on the page for the versions of a row that four updates leave.
    "delivery": "WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05)",
}


def ensure(today: dt.date, *, days: int = DAYS_AHEAD) -> int:
    """Make the partitions of `today` and of the days after it that are missing.

    Returns how many days.

    Safe to run twice and from many processes: it looks first, and one at a time changes anything.
    """
    wanted = [today + dt.timedelta(days=ahead) for ahead in range(days + 1)]
    missing = set(wanted) - set(existing())
    for day in sorted(missing):
        _with_short_locks(partial(_make, day))
    return len(missing)


def existing() -> list[dt.date]:
    """The days that have partitions, oldest first."""
    with db.cursor() as running:
        running.execute(
            "SELECT inhrelid::regclass::text AS name FROM pg_inherits"
            " WHERE inhparent = 'delivery'::regclass"
        )
        names = [row["name"] for row in running.fetchall()]
    return sorted(dt.date.fromisoformat(name[-8:]) for name in names)


def with_day(day: dt.date, work: Callable[[], Answer]) -> Answer:
    """Run an insert for rows born on `day`; make a missing partition and run it again.

    Raises:
        IntegrityError: another violation, or a day that retention has dropped: not made again.
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
    return day < clock.now().date() - dt.timedelta(days=RETENTION_DAYS)


def drop(day: dt.date) -> None:
    """Detach and drop a day. DETACH CONCURRENTLY waits for readers without stopping writers.

    One that a crash left half detached is finished first, then dropped.
    """
    for table in TABLES:
        name = f"{table}_{day:%Y%m%d}"
        with connection.cursor() as running:
            running.execute(
                "SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = to_regclass(%s)", [name]
            )
            attached = running.fetchone()
            if attached:
                how = "FINALIZE" if attached[0] else "CONCURRENTLY"
                running.execute(f"ALTER TABLE {table} DETACH PARTITION {name} {how}")
            running.execute(f"DROP TABLE IF EXISTS {name}")


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
