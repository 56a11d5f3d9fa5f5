"""The countries to which producers may send SMS, read once a second per process."""

from __future__ import annotations

from notifications.core.models import Producer
from notifications.core.rules import phone
from notifications.core.store.cached.ttl_cache import Fresh


@Fresh
def by_producer() -> dict[int, frozenset[str]]:
    """Return the permitted countries for SMS by producer; a missing producer: every country."""
    rows = Producer.objects.exclude(sms_countries=[]).values_list("pk", "sms_countries")
    return {pk: frozenset(countries) for pk, countries in rows}


def wrong_country(producer_id: int, number: str) -> str:
    """Return the country of a number to which the producer may not send SMS; empty: it may."""
    countries = by_producer().get(producer_id)
    if countries is None:
        return ""
    country = phone.country_or_unknown(number)
    return "" if country in countries else country


forget = by_producer.forget
