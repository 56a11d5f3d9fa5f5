"""Past days: days past retention, each under a lease, and the drop of their partitions.

A process takes a day by a lease of an hour; a lease that ends (kill -9) lets another process
continue at the first step without a row. The row of a day in `archive_day` has the progress. The
feature `archive` exports a day before the drop.

Open deliveries. Only a replay leaves an open delivery in a day past retention. The id of a row
determines its partition, so a row cannot move to another partition. A copy under a new id could
send a message twice: a provider recognises a repeated call by the delivery's id, and a receipt, the
sent-ledger and a message in the broker name the old id. Therefore the day waits with all its
tables: each open delivery ends by itself, at the latest with its time to live, and the day follows.
A delivery that is open `WAITS` after the retention (its time to live was set to weeks) moves to the
dead letters, which have no partition: an operator replays the letter as a new notification.
"""

from __future__ import annotations

import datetime as dt
from typing import Final, Self
from uuid import UUID, uuid4

from django.db.models import QuerySet

from notifications.core import clock
from notifications.core.models import ArchiveDay, ArchiveState
from notifications.core.store.postgres import db, partitions

LEASE: Final = dt.timedelta(hours=1)
"""Longer than the export of one table, which several runs of the sweep can meet; each step renews
the lease."""
WAITS: Final = dt.timedelta(days=7)
"""Time after retention for which a day waits for its open deliveries."""
PROBLEM: Final = 500
"""Characters of `ArchiveDay.problem`."""


class LeaseLost(Exception):
    """Another process has the day: the work on the day ends without a change."""


def days_to_archive() -> list[dt.date]:
    """Return the days past retention with partitions and all days in progress, oldest first."""
    in_progress = ArchiveDay.objects.filter(dropped_at=None).values_list("day", flat=True)
    return sorted({*partitions.past(), *in_progress})


class Lease:
    """The lease of a day, as a context manager; `is_held` is False for another owner."""

    def __init__(self, day: dt.date) -> None:
        """Prepare; `with` takes the lease."""
        self.day = day
        self._token: UUID = uuid4()
        self.is_held = False

    def __enter__(self) -> Self:
        """Take the lease if free."""
        values = {"day": self.day, "token": self._token, "lease": LEASE}
        self.is_held = bool(db.rows("archive_take_day", values))
        return self

    def __exit__(self, *_error: object) -> None:
        """Return the lease. After the death of the process the lease expires."""
        if self.is_held:
            self._mine().update(leased_until=None)

    def update(self, **values: object) -> None:
        """Change the day's row and renew the lease.

        Raises:
            LeaseLost: the lease ended, and another process took the day.
        """
        if not self._mine().update(leased_until=clock.now() + LEASE, **values):
            raise LeaseLost(self.day.isoformat())

    def _mine(self) -> QuerySet[ArchiveDay]:
        return ArchiveDay.objects.filter(day=self.day, lease_token=self._token)


def drop(lease: Lease) -> bool:
    """Drop the partitions of a day without an archive; True: the partitions are dropped.

    False: a delivery of the day is open, so the day waits.

    Raises:
        OperationalError: a reader holds a table, or the database is away.
        LeaseLost: another process has the day.
    """
    if not partitions.present(lease.day):  # a process ended after the drop
        finish(lease)
        return True
    lease.update(state=ArchiveState.NOT_ARCHIVED, problem="")
    if not partitions.freeze(lease.day):
        lease.update(state=ArchiveState.WAITING)
        return False
    if partitions.drop_frozen(lease.day):
        return False
    finish(lease)
    return True


def finish(lease: Lease) -> None:
    """Mark a day after the drop of the partitions.

    Raises:
        LeaseLost: another process has the day.
    """
    if ArchiveDay.objects.get(day=lease.day).state != ArchiveState.NOT_ARCHIVED:
        lease.update(state=ArchiveState.ARCHIVED)
    lease.update(dropped_at=clock.now(), problem="")


def note_problem(day: dt.date, problem: str) -> None:
    """Store the error of the last try for operators."""
    ArchiveDay.objects.filter(day=day).update(problem=problem[:PROBLEM])
