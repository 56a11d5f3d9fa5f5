"""Partitions: two weeks ahead, ninety days back.

Also holds this machine's clock against the database's.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from django.db import connection

from notifications import clock
from notifications.models import Delivery
from notifications.rules import ids
from notifications.rules.reasons import Reason
from notifications.rules.transitions import EXPIRE
from notifications.store import alerts, partitions, transitions
from notifications.store.transitions import ANYONE, Move
from notifications.sweeps.rounds import Swept

_MAX_SKEW: Final = dt.timedelta(seconds=2)
"""Ids carry the app's clock and leases the database's.

A second apart is harmless, an hour is not.
"""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Make what is missing ahead and drop at most `limit` days past retention."""
    moved = partitions.ensure(now.date())
    past = [day for day in partitions.existing() if partitions.is_past(day)][:limit]
    for day in past:
        _expire_open_rows(day)
        partitions.drop(day)
    check_clock()
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


def check_clock() -> None:
    """Raise an alert while this machine's clock and the database's disagree."""
    with connection.cursor() as running:
        running.execute("SELECT clock_timestamp()")
        (theirs,) = running.fetchone() or (clock.now(),)
    skew = abs(theirs - clock.now())
    if skew > _MAX_SKEW:
        detail = f"this machine's clock is {skew.total_seconds():.0f} s away from the database's"
        alerts.raise_once("clock_skew", "", detail)
    else:
        alerts.resolve("clock_skew", "")
