"""Send windows of producers, for recipients without a known timezone."""

from __future__ import annotations

from collections.abc import Mapping

from notifications.core.models import Producer
from notifications.core.rules.times.deferral import ProducerDay
from notifications.core.store.cached.ttl_cache import Fresh


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
    """Return the send window of a producer; the default window if the producer was deleted."""
    return _days().get(producer_id, ProducerDay())
