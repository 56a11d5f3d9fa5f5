"""The producers' days: which clock counts for people whose timezone nobody knows.

Read again each second, and only by a process that meets such a person.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from notifications import clock
from notifications.models import Producer
from notifications.rules.times.deferral import ProducerDay

_FRESH: Final = 1.0
"""Seconds that a day is believed: an edit acts within two seconds everywhere."""


def of(producer_id: int) -> ProducerDay:
    """A producer's day; the usual one of a producer that is gone."""
    return _days(int(clock.monotonic() / _FRESH)).get(producer_id, ProducerDay())


def forget() -> None:
    """Read them anew on their next use."""
    _days.cache_clear()


@functools.lru_cache(maxsize=1)
def _days(_moment: int) -> Mapping[int, ProducerDay]:
    return {
        pk: ProducerDay(timezone=timezone, begins=begins, ends=ends)
        for pk, timezone, begins, ends in Producer.objects.values_list(
            "pk", "timezone", "day_begins", "day_ends"
        )
    }
