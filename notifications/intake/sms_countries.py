"""SMS countries: posts of SMS to a country that the producer may not send to are refused.

The allow-list of a producer applies to live SMS of every priority. Test numbers of the sandbox have
no country and no limit.
"""

from __future__ import annotations

from notifications.rules import phone
from notifications.rules.problems import FieldError, Kind, Problem
from notifications.rules.sms_pumping import ceilings
from notifications.rules.sms_pumping.ceilings import UNKNOWN_COUNTRY
from notifications.store.rate_limits import sms_policy


def problem_of(producer_id: int, number: str, *, pointer: str) -> Problem | None:
    """Return the problem of a number in a country that the producer may not send to."""
    allowed = sms_policy.allowed_countries().get(producer_id)
    if allowed is None or not number or ceilings.is_test_number(number):
        return None
    country = phone.country_of(number) or UNKNOWN_COUNTRY
    if country in allowed:
        return None
    detail = f"this producer may not send SMS to the country {country}"
    return Problem(Kind.COUNTRY_NOT_ALLOWED, detail, (FieldError(pointer, detail),))
