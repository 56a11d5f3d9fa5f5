"""The P0 and P1 SMS per day by prefix and country, and the learned baselines."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Final

from django.db import transaction

from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.rollups import Cube, DimensionSet, Step
from notifications.core.store.postgres import db
from notifications.features.sms_pumping.models import SmsTraffic, SmsTrafficPosition
from notifications.features.sms_pumping.rules import baselines
from notifications.features.sms_pumping.rules.baselines import Baselines, Traffic
from notifications.features.sms_pumping.rules.ceilings import Ceiling

Counts = Mapping[tuple[int, str], int]
"""SMS of an interval by producer id and name."""
_NEVER: Final = -1


def position(ceiling: Ceiling) -> int:
    """Return the number of the last learned interval; -1 before the first."""
    row = SmsTrafficPosition.objects.filter(pk=ceiling.value).first()
    return row.interval if row else _NEVER


def add(ceiling: Ceiling, counts: Counts, *, interval: int, day: dt.date) -> bool:
    """Add the counts of an interval to a day, and move the position; False: added before.

    One transaction under the lock of the position, so that an interval counts once.
    """
    with transaction.atomic():
        SmsTrafficPosition.objects.get_or_create(pk=ceiling.value, defaults={"interval": _NEVER})
        moved = SmsTrafficPosition.objects.filter(pk=ceiling.value, interval__lt=interval)
        if not moved.update(interval=interval):
            return False
        if counts:
            names = list(counts)
            db.rows(
                "sms_traffic_add",
                {
                    "day": day,
                    "ceiling": ceiling.value,
                    "producers": [producer_id for producer_id, _ in names],
                    "names": [name for _, name in names],
                    "counts": list(counts.values()),
                },
            )
    return True


def usual_traffic(*, today: dt.date) -> Baselines:
    """Return the baselines of the last four weeks."""
    since = today - baselines.PERIOD
    return baselines.learn(
        *(
            db.fetch_as("sms_traffic_of", {"since": since, "ceiling": each.value}, Traffic)
            for each in (Ceiling.PREFIX, Ceiling.COUNTRY)
        )
    )


def p0_by_producer(*, since: dt.datetime) -> dict[int, int]:
    """Return the live P0 deliveries of all channels since an instant, by producer id.

    Counts whole minutes, as counted by the sweep `rollups`.
    """
    parameters = {
        "cube": Cube(Step.MINUTE, DimensionSet.PRODUCER).number,
        "dimension_set": int(DimensionSet.PRODUCER),
        "mode": int(Mode.LIVE),
        "priority": int(Priority.P0),
        "since": Step.MINUTE.floor(since),
    }
    return {row["producer_id"]: row["p0"] for row in db.rows("sms_p0_of", parameters)}


def forget_old(*, today: dt.date) -> int:
    """Delete the days before the period; returns the number of rows."""
    return SmsTraffic.objects.filter(day__lte=today - baselines.PERIOD).delete()[0]
