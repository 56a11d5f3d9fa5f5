"""Daily partitions of the four big tables: created ahead, frozen and dropped after retention.

There is no default partition, because rows in a default partition block the creation of the right
partition. Partitions are created two weeks ahead, at every boot and every hour; an insert without a
partition creates the partition of the day and retries. A partition is built as a separate table and
attached without a block of writers.

The database role of the processes owns no table and cannot alter or drop a table. The functions of
`partition_functions.sql` and `archive_functions.sql` in `notifications/core/migrations` run as the
owner: they create only days near today, and drop only frozen days in the archive, older than the
shortest retention. Therefore every process can create a missing day, and no process can lose a day.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeVar

import psycopg
from django.db import IntegrityError, OperationalError, connection, transaction

from notifications.core import clock, conf
from notifications.core.store.postgres import db

Answer = TypeVar("Answer")

TABLES: Final = {
    "notification": "id",
    "delivery": "id",
    "attempt": "delivery_id",
    "event": "notification_id",
}
DAYS_AHEAD: Final = 14
_MAKE_TRIES: Final = 20
"""Each attempt waits at most 200 ms for the lock, so that writers never queue long behind the DDL.
"""
_DROP_TRIES: Final = 3
"""Each attempt blocks writers for at most 200 ms. The next run of the sweep tries again."""
_FREEZE_ORDER: Final = ("delivery", "notification", "event", "attempt")


def ensure(today: dt.date, *, days: int = DAYS_AHEAD) -> int:
    """Make the missing partitions of `today` and the days after; returns how many days.

    Safe to run twice and from many processes.
    """
    wanted = [today + dt.timedelta(days=ahead) for ahead in range(days + 1)]
    attached = {(part.table, part.day) for part in _parts() if part.is_attached}
    missing = {day for day in wanted if any((table, day) not in attached for table in TABLES)}
    for day in sorted(missing):
        _patiently(functools.partial(_call, "SELECT make_partitions(%s)", [day]), tries=_MAKE_TRIES)
    return len(missing)


def existing() -> list[dt.date]:
    """Return the days with a deliveries partition, oldest first."""
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
    """Return True if retention has dropped, or is about to drop, a day."""
    return day < clock.now().date() - conf.current().retention


def past() -> list[dt.date]:
    """Return the days before retention of which any table is left, oldest first."""
    return sorted({part.day for part in _parts() if is_past(part.day)})


def present(day: dt.date) -> list[str]:
    """Return the tables of a day that are left, attached or frozen; the largest table first."""
    found = {part.table for part in _parts() if part.day == day}
    return [table for table in reversed(TABLES) if table in found]


def frozen() -> set[dt.date]:
    """Return the days of which a table is frozen and not yet dropped."""
    return {part.day for part in _parts() if not part.is_attached}


def live_tables(day: dt.date) -> list[str]:
    """Return the tables of a day that are not frozen."""
    return [part.table for part in _parts() if part.day == day and part.is_attached]


def freeze(day: dt.date) -> bool:
    """Detach the tables of a day, so that no row changes; False: a delivery of the day is open.

    Deliveries first: an open delivery keeps all tables attached. A detach waits until no
    transaction uses the table, for at most 200 ms a try, while new statements wait behind it. Safe
    to run twice.

    Raises:
        OperationalError: a reader has held one of the tables for too long.
    """
    left = sorted(present(day), key=_FREEZE_ORDER.index)
    return all(
        _patiently(
            functools.partial(_call, "SELECT freeze_partition(%s, %s)", [table, day]),
            tries=_DROP_TRIES,
        )
        for table in left
    )


def keep_attached() -> None:
    """Let no partition leave its table before the end of the transaction: `freeze` fails."""
    with connection.cursor() as running:
        running.execute(f"LOCK TABLE ONLY {', ONLY '.join(TABLES)} IN ACCESS SHARE MODE")


def drop_frozen(day: dt.date) -> dict[str, str]:
    """Drop the frozen tables of a day, all or none.

    PostgreSQL drops a table only if the archive has exactly its rows, or if the day is marked as
    not archived. Returns table -> reason (`attached`, `not verified`, `changed`) for each refused
    table; an empty result means that all tables are dropped.

    Raises:
        OperationalError: a reader has held a table for too long.
    """

    def work() -> dict[str, str]:
        with transaction.atomic():
            answers = {
                table: str(_call("SELECT drop_partition(%s, %s)", [table, day]))
                for table in present(day)
            }
            refused = {table: each for table, each in answers.items() if each != "dropped"}
            if refused:
                transaction.set_rollback(True)
        return refused

    return _patiently(work, tries=_DROP_TRIES)


class _Part(NamedTuple):
    """A current or former partition table of a day."""

    table: str
    day: dt.date
    is_attached: bool
    is_pending: bool
    """A detach has begun and not ended."""


def _parts() -> list[_Part]:
    """Find tables by name, because a detached table has no other link to the parent."""
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


def _call(statement: str, values: Sequence[str | dt.date]) -> object:
    """Return the value of a function."""
    with connection.cursor() as running:
        running.execute(statement, values)
        return running.fetchone()[0]


def _patiently(work: Callable[[], Answer], *, tries: int) -> Answer:
    """Run `work`, again while a lock is not available.

    Raises:
        OperationalError: the lock was not available in any try.
        AssertionError: never.
    """
    for tries_left in reversed(range(tries)):
        try:
            return work()
        except OperationalError as error:
            if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable) or not tries_left:
                raise
    raise AssertionError  # the last try returns or raises
