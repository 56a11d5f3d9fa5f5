"""The producer's rate limit: counted in notifications, told in headers on each answer to one.

    RateLimit-Policy: "producer";q=5000;w=5     the burst, and the seconds in which it fills
    RateLimit: "producer";r=4990;t=1            what is left, and the seconds until it is whole
    again

Both are structured fields as the IETF's draft on rate limit header fields has them.
"""

from __future__ import annotations

import math
from typing import Final

from rest_framework.request import Request
from rest_framework.views import APIView

from notifications.api.authentication import key_of
from notifications.api.problems import refuse
from notifications.rules.problems import Kind, Problem
from notifications.store import limits
from notifications.store.limits import Charge, Quota

_POLICY: Final = '"producer"'


def charge(view: APIView, request: Request, *, notifications: int) -> None:
    """Take that many from the producer's bucket, and tell in the view's headers what is left.

    Raises:
        Refusal: it holds fewer (429); nothing was taken.
    """
    [quota] = limits.take([charge_of(request, notifications=notifications)])
    tell(view, request, quota)


def charge_of(request: Request, *, notifications: int) -> Charge:
    """What that many notifications cost the request's producer."""
    key = key_of(request)
    return Charge(
        producer_id=key.producer_id,
        mode=key.mode,
        cost=notifications,
        rate_per_second=key.rate_per_second,
        burst=key.rate_burst,
    )


def tell(view: APIView, request: Request, quota: Quota) -> None:
    """Tell in the view's headers what a charge has left.

    Raises:
        Refusal: it was not granted (429).
    """
    key = key_of(request)
    window = max(1, math.ceil(quota.window.total_seconds()))
    full_in = math.ceil(quota.full_in.total_seconds())
    view.headers["RateLimit-Policy"] = f"{_POLICY};q={quota.burst};w={window}"
    view.headers["RateLimit"] = f"{_POLICY};r={quota.remaining};t={full_in}"
    if not quota.granted:
        said = f"{key.producer_name} may hand in {key.rate_per_second} notifications a second"
        refuse(Problem(Kind.RATE_LIMITED, said, (), quota.retry_after))
