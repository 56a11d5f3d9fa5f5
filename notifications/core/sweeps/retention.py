"""Retention: days past retention are dropped (sweep `archive`), days ahead get partitions.

The feature `archive` replaces the sweep, and exports a day before the drop.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Final

import structlog
from django.db import OperationalError

from notifications.core import clock, conf
from notifications.core.models import Delivery
from notifications.core.rules import ids
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import OPEN
from notifications.core.rules.transitions import GIVE_UP
from notifications.core.store.postgres import alerts, partitions, past_days, transitions
from notifications.core.store.postgres.past_days import Lease, LeaseLost
from notifications.core.store.postgres.transitions import ANYONE, Move
from notifications.core.sweeps.rounds import Swept

_log = structlog.get_logger(__name__)

_SECONDS: Final = 60.0
"""After this time a run begins no further day; the next run continues."""
_LATE: Final = dt.timedelta(days=3)
"""Days past retention before a day without an error counts as late."""


class NoArchive(Exception):
    """NOTIFY_ARCHIVE_URL wants an archive, and no installed app writes one."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Drop days past retention without an archive, the oldest first.

    Safe to run twice or in concurrent processes: a lease gives a day to one process, and each step
    leaves a row. If the sweep never runs, days stay in PostgreSQL.
    """
    done, problems = advance_days(
        now=now, limit=limit, advance=_drop, trouble=(OperationalError, NoArchive)
    )
    alert(now, problems)
    return done


def _drop(lease: Lease) -> bool:
    """Drop a day; the rows of a day are lost, so NOTIFY_ARCHIVE_URL must agree.

    Raises:
        NoArchive: NOTIFY_ARCHIVE_URL is not `off`.
    """
    if conf.current().archive_url != conf.NO_ARCHIVE:
        raise NoArchive(
            "NOTIFY_ARCHIVE_URL is not off, and INSTALLED_APPS has no app that writes an archive"
        )
    return past_days.drop(lease)


def advance_days(
    *,
    now: dt.datetime,
    limit: int,
    advance: Callable[[Lease], bool],
    trouble: tuple[type[Exception], ...],
) -> tuple[Swept, list[str]]:
    """Do the steps of each day past retention for a minute at most, the oldest day first.

    Args:
        now: the present.
        limit: open deliveries that are dead-lettered at a time.
        advance: does all steps of a day; returns True if the partitions of the day are dropped.
        trouble: exceptions of `advance` that leave the day for the next run.

    Returns:
        The number of days, and a line with day and error for each failed day.
    """
    ends_at, done = clock.monotonic() + _SECONDS, Swept()
    problems: list[str] = []
    for day in past_days.days_to_archive():
        if clock.monotonic() > ends_at:
            break
        try:
            done += Swept(moved=_advance(day, now, limit, advance))
        except LeaseLost:
            _log.warning("archive_lease_lost", day=day.isoformat())
        except trouble as error:
            _log.warning("day_not_archived", day=day.isoformat(), error=str(error))
            past_days.note_problem(day, str(error))
            problems.append(f"{day}: {error}")
            done += Swept(failed=1)
    return done, problems


def _advance(day: dt.date, now: dt.datetime, limit: int, advance: Callable[[Lease], bool]) -> int:
    """Do the steps of a day if its lease is free.

    Raises:
        LeaseLost: another process took the day, and may have dropped a table that was being read.
    """
    with Lease(day) as lease:
        if not lease.is_held:
            return 0
        if day < now.date() - conf.current().retention - past_days.WAITS:
            _move_to_dead_letters(day, limit)
        try:
            return int(advance(lease))
        except Exception:
            lease.update()
            raise


def _move_to_dead_letters(day: dt.date, limit: int) -> None:
    """Dead-letter the deliveries that are still open: see `past_days`."""
    low, high = ids.floor_of(day), ids.floor_of(day + dt.timedelta(days=1))
    still_open = Delivery.objects.filter(
        id__gte=low, id__lt=high, due_at__isnull=False, status__in=OPEN
    ).order_by("id")
    while batch := list(still_open.values_list("id", flat=True)[:limit]):
        ends = [
            Move(id=each, reason=Reason.RETENTION, detail="open for longer than rows are kept")
            for each in batch
        ]
        if not transitions.apply(GIVE_UP, ends, ANYONE):
            return


def alert(now: dt.datetime, problems: list[str]) -> None:
    """Raise the alert while a day has an error or is late; resolve the alert otherwise."""
    latest = now.date() - conf.current().retention - _LATE
    late = [day for day in past_days.days_to_archive() if day < latest]
    if problems or late:
        reason = problems[0] if problems else "open deliveries, or a reader that holds a table"
        detail = f"{len(late)} days wait for more than {_LATE.days} days past retention; {reason}"
        alerts.raise_once(AlertKind.ARCHIVE_LATE, "", detail)
    else:
        alerts.resolve(AlertKind.ARCHIVE_LATE, "")


def create_partitions(*, now: dt.datetime, limit: int) -> Swept:
    """Create missing days. Safe to run twice, late or in concurrent processes."""
    del limit  # two weeks at most
    return Swept(moved=partitions.ensure(now.date()))
