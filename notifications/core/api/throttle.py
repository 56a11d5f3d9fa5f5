"""The producer's rate limit: the cost of calls, and the limit in response headers.

    RateLimit-Policy: "producer";q=5000;w=5     the burst, and the seconds to a full burst
    RateLimit: "producer";r=4990;t=1            what remains, and the seconds until full

The headers are structured fields, as in the IETF draft on RateLimit header fields. A read costs
nothing and a write costs 1. A batch costs 1 for every item, a preview 1 for every 10 ms of
rendering, a suppression file 1 for every 100 lines. A repeated call costs as much as the first.
"""

from __future__ import annotations

import math
from typing import Final

from rest_framework.request import Request
from rest_framework.views import APIView

from notifications.core.api.authentication import key_of
from notifications.core.api.problems import raise_problem
from notifications.core.rules.problems import Kind, Problem
from notifications.core.store.postgres.api_keys import KnownKey
from notifications.core.store.rate_limits import producer_limits
from notifications.core.store.rate_limits.producer_limits import Charge, Quota

_POLICY: Final = '"producer"'


def charge(view: APIView, request: Request, *, cost: int) -> None:
    """Take the cost of a call from the producer's bucket, and set the rate-limit headers.

    Raises:
        ProblemError: the bucket holds less than the cost (429); nothing was taken.
    """
    [quota] = producer_limits.take([charge_of(request, cost=cost)])
    tell(view, request, quota)


def charge_afterwards(view: APIView, request: Request, *, cost: int) -> None:
    """Take a cost known only after the work, as far as the bucket allows."""
    quota = producer_limits.take_some(charge_of(request, cost=cost))
    view.headers.update(headers_of(quota))


def charge_of(request: Request, *, cost: int) -> Charge:
    """Return the charge of a call to the request's producer."""
    return charge_to(key_of(request), cost=cost)


def charge_to(key: KnownKey, *, cost: int) -> Charge:
    """Return the charge of a call to the producer of a key."""
    return Charge(
        producer_id=key.producer_id,
        mode=key.mode,
        cost=cost,
        rate_per_second=key.rate_per_second,
        burst=key.rate_burst,
    )


def tell(view: APIView, request: Request, quota: Quota) -> None:
    """Set the rate-limit headers of the view.

    Raises:
        ProblemError: the charge was not granted (429).
    """
    view.headers.update(headers_of(quota))
    if not quota.granted:
        key = key_of(request)
        said = f"{key.producer_name} may write at most {key.rate_per_second} times a second"
        raise_problem(Problem(Kind.RATE_LIMITED, said, (), quota.retry_after))


def peek(view: APIView, request: Request) -> None:
    """Set the rate-limit headers for a call without cost."""
    [quota] = producer_limits.take([charge_of(request, cost=0)])
    view.headers.update(headers_of(quota))


def headers_of(quota: Quota) -> dict[str, str]:
    """Return the rate-limit headers."""
    window = max(1, math.ceil(quota.window.total_seconds()))
    full_in = math.ceil(quota.full_in.total_seconds())
    return {
        "RateLimit-Policy": f"{_POLICY};q={quota.burst};w={window}",
        "RateLimit": f"{_POLICY};r={quota.remaining};t={full_in}",
    }
