"""SMS countries: posts of SMS to a country that the producer may not send to are refused.

The allow-list of a producer applies to live SMS of every priority.
"""

from __future__ import annotations

from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.store.cached import sms_countries


def problem_of(producer_id: int, number: str, *, pointer: str) -> Problem | None:
    """Return the problem of a number in a country that the producer may not send to."""
    country = sms_countries.wrong_country(producer_id, number) if number else ""
    if not country:
        return None
    detail = f"this producer may not send SMS to the country {country}"
    return Problem(Kind.COUNTRY_NOT_ALLOWED, detail, (FieldError(pointer, detail),))
