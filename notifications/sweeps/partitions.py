"""Partitions: create partitions for two weeks ahead, drop days past retention."""

from __future__ import annotations

import datetime as dt

import structlog
from django.db import OperationalError

from notifications.models import Delivery
from notifications.rules import ids
from notifications.rules.reasons import Reason
from notifications.rules.states import OPEN
from notifications.rules.transitions import FAIL
from notifications.store.postgres import partitions, transitions
from notifications.store.postgres.transitions import ANYONE, Move
from notifications.sweeps.rounds import Swept

_log = structlog.get_logger(__name__)


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Create missing days and drop days past retention; `limit` open deliveries at a time.

    A day whose tables are locked by a reader counts as failed; the next run tries again.
    """
    done = Swept(moved=partitions.ensure(now.date()))
    for day in partitions.past():
        try:
            _end_open_rows(day, limit)
            partitions.drop(day)
        except OperationalError as error:
            _log.warning("day_not_dropped", day=day.isoformat(), error=str(error))
            done += Swept(failed=1)
        else:
            done += Swept(moved=1)
    return done


def _end_open_rows(day: dt.date, limit: int) -> None:
    """Dead-letter the open deliveries of a day before the day is dropped.

    Only a replay leaves an open delivery older than retention. Rows cannot move to another
    partition, because their ids determine the partition. A dead letter outlives the partition and
    can be replayed.
    """
    low, high = ids.floor_of(day), ids.floor_of(day + dt.timedelta(days=1))
    still_open = Delivery.objects.filter(
        id__gte=low, id__lt=high, due_at__isnull=False, status__in=OPEN
    ).order_by("id")
    while batch := list(still_open.values_list("id", flat=True)[:limit]):
        ends = [
            Move(id=each, reason=Reason.RETENTION, detail="open for longer than rows are kept")
            for each in batch
        ]
        if not transitions.apply(FAIL, ends, ANYONE):
            return
