"""Lane lag: sample the lag of each lane.

    each run   breakers of the SMS providers -> pause or resume P3 SMS
               sample of all lanes -> alerts about the lag of a priority

Safe to run twice (a sample replaces the last one), late or never (the lag is unknown). The feature
`back_pressure` replaces the sweep by one that also refuses and drops P3.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping

from notifications.core.models import LaneLag
from notifications.core.rules import lane_lag as lag_rules
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Lane, Priority
from notifications.core.store.postgres import alerts, lane_lag
from notifications.core.sweeps import sms_outage
from notifications.core.sweeps.rounds import Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Sample the lag, and end the effects of back-pressure, which is not installed."""
    del limit
    sample(now=now)
    ended = {"refuses_since": None, "drops_since": None, "dropped_at": None}
    in_effect = LaneLag.objects.exclude(**ended)
    in_effect.update(**ended, retry_after_seconds=0, dropped=0)
    return Swept()


def sample(*, now: dt.datetime) -> list[LaneLag]:
    """Store the lag of each lane, and raise the alerts about the lag of a priority."""
    sms_outage.pause_or_resume()
    rows = lane_lag.sample(now=now)
    _look_at_priorities(rows)
    return rows


def _look_at_priorities(rows: Iterable[LaneLag]) -> None:
    """Raise the alerts about the lag of a priority, and resolve them well under the limits."""
    waiting: Mapping[Lane, int] = {lane_lag.lane_of(row): row.waiting for row in rows}
    lags = lag_rules.by_priority(waiting)
    for priority, processes in lag_rules.workers_wanted(waiting).items():
        detail = f"{lags[priority]:,} wait; {processes} worker processes are recommended"
        size = lag_rules.SCALE_WAITING
        _compare(AlertKind.WORKERS_WANTED, priority, lags[priority], size, detail)
    for priority, size in lag_rules.SIZES.items():
        detail = f"{lags[priority]:,} wait; planned for {size:,}"
        _compare(AlertKind.QUEUE_OVERSIZED, priority, lags[priority], size, detail)


def _compare(kind: AlertKind, priority: Priority, lag: int, most: int, detail: str) -> None:
    if lag > most:
        alerts.raise_once(kind, priority.name, detail)
    elif lag <= most * lag_rules.END_SHARE:
        alerts.resolve(kind, priority.name)
