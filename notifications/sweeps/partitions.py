"""Partitions: two weeks ahead, ninety days back."""

from __future__ import annotations

import datetime as dt

from notifications.models import Delivery
from notifications.rules import ids
from notifications.rules.reasons import Reason
from notifications.rules.transitions import EXPIRE
from notifications.store import partitions, transitions
from notifications.store.transitions import ANYONE, Move
from notifications.sweeps.rounds import Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Make what is missing ahead and drop at most `limit` days past retention."""
    moved = partitions.ensure(now.date())
    past = [day for day in partitions.existing() if partitions.is_past(day)][:limit]
    for day in past:
        _expire_open_rows(day)
        partitions.drop(day)
    return Swept(moved + len(past))


def _expire_open_rows(day: dt.date) -> None:
    """Nothing open can be this old, save by a replay; what is, ends before its partition does."""
    low, high = ids.floor_of(day), ids.floor_of(day + dt.timedelta(days=1))
    still_open = Delivery.objects.filter(
        id__gte=low, id__lt=high, due_at__isnull=False, status__in=EXPIRE.sources
    )
    ends = [
        Move(id=each, reason=Reason.RETENTION) for each in still_open.values_list("id", flat=True)
    ]
    transitions.apply(EXPIRE, ends, ANYONE)
