"""Archive: days past retention are exported, verified and dropped; expired files are deleted."""

from __future__ import annotations

import datetime as dt
from typing import Final

import pyarrow as pa
import structlog
from django.db import OperationalError

from notifications import clock, conf
from notifications.archive import days
from notifications.archive.days import Lease, LeaseLost
from notifications.archive.export import CountDiffers
from notifications.archive.targets import ArchiveUnavailable
from notifications.archive.verify import Damaged
from notifications.models import Delivery
from notifications.rules import ids
from notifications.rules.alerts import AlertKind
from notifications.rules.reasons import Reason
from notifications.rules.states import OPEN
from notifications.rules.transitions import GIVE_UP
from notifications.store.postgres import alerts, transitions
from notifications.store.postgres.archive_keys import UnreadableKey
from notifications.store.postgres.transitions import ANYONE, Move
from notifications.sweeps.rounds import Swept

_log = structlog.get_logger(__name__)

_SECONDS: Final = 60.0
"""After this time a run begins no further day; the next run continues."""
_LATE: Final = dt.timedelta(days=3)
"""Days past retention before a day without an error counts as late."""
_TROUBLE: Final = (
    *(OperationalError, ArchiveUnavailable, Damaged, CountDiffers, UnreadableKey),
    pa.ArrowException,
)


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Archive and drop days past retention, the oldest first; delete expired files.

    Safe to run twice or in concurrent processes: a lease gives a day to one process, and each step
    leaves a row. After a kill the next run continues when the lease has ended. If the sweep never
    runs, days stay in PostgreSQL.
    """
    ends_at, done = clock.monotonic() + _SECONDS, Swept()
    problems: list[str] = []
    for day in days.days_left():
        if clock.monotonic() > ends_at:
            break
        try:
            done += Swept(moved=_archive(day, now, limit))
        except LeaseLost:
            _log.warning("archive_lease_lost", day=day.isoformat())
        except _TROUBLE as error:
            _log.warning("day_not_archived", day=day.isoformat(), error=str(error))
            days.note_problem(day, str(error))
            problems.append(f"{day}: {error}")
            done += Swept(failed=1)
    done += _expire(now, problems)
    _alert(now, problems)
    return done


def _archive(day: dt.date, now: dt.datetime, limit: int) -> int:
    with Lease(day) as lease:
        if not lease.is_held:
            return 0
        if day < now.date() - conf.current().retention - days.WAITS:
            _move_to_dead_letters(day, limit)
        return int(days.advance(lease))


def _move_to_dead_letters(day: dt.date, limit: int) -> None:
    """Dead-letter the deliveries that are still open: see `archive.days`."""
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


def _expire(now: dt.datetime, problems: list[str]) -> Swept:
    try:
        return Swept(moved=days.expire(today=now.date()))
    except ArchiveUnavailable as error:
        problems.append(f"expired files: {error}")
        return Swept(failed=1)


def _alert(now: dt.datetime, problems: list[str]) -> None:
    """Raise the alert while a day has an error or is late; resolve the alert otherwise."""
    latest = now.date() - conf.current().retention - _LATE
    late = [day for day in days.days_left() if day < latest]
    if problems or late:
        reason = problems[0] if problems else "open deliveries, or a reader that holds a table"
        detail = f"{len(late)} days wait for more than {_LATE.days} days past retention; {reason}"
        alerts.raise_once(AlertKind.ARCHIVE_LATE, "", detail)
    else:
        alerts.resolve(AlertKind.ARCHIVE_LATE, "")
