"""The producers' days: which clock counts for recipients whose timezone nobody knows."""

from __future__ import annotations

from collections.abc import Mapping

from notifications.models import Producer
from notifications.rules.times.deferral import ProducerDay
from notifications.store.cached.ttl_cache import Fresh


@Fresh
def _days() -> Mapping[int, ProducerDay]:
    return {
        pk: ProducerDay(timezone=timezone, begins=begins, ends=ends)
        for pk, timezone, begins, ends in Producer.objects.values_list(
            "pk", "timezone", "day_begins", "day_ends"
        )
    }


forget = _days.forget


def of(producer_id: int) -> ProducerDay:
    """Return a producer's day; the default day of a producer that was deleted."""
    return _days().get(producer_id, ProducerDay())
