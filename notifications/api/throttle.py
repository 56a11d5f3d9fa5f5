"""The producer's rate limit: what each call costs, told in headers on each answer.

    RateLimit-Policy: "producer";q=5000;w=5     the burst, and the seconds in which it fills
    RateLimit: "producer";r=4990;t=1            what is left, and the seconds until it is whole
    again

Both are structured fields as the IETF's draft on rate limit header fields has them. A call that
reads costs nothing, one that writes costs 1, a batch 1 for each item, a preview 1 for each 10 ms
that it takes, a file of suppressions 1 for each 100 lines. A repeat costs what its first call did.
"""

from __future__ import annotations

import math
from typing import Final

from rest_framework.request import Request
from rest_framework.views import APIView

from notifications.api.authentication import key_of
from notifications.api.problems import refuse
from notifications.rules.problems import Kind, Problem
from notifications.store.rate_limits import producer_limits
from notifications.store.rate_limits.producer_limits import Charge, Quota

_POLICY: Final = '"producer"'


def charge(view: APIView, request: Request, *, cost: int) -> None:
    """Take a call's cost from the producer's bucket, and tell in the view's headers what is left.

    Raises:
        Refusal: the bucket holds less (429); nothing was taken.
    """
    [quota] = producer_limits.take([charge_of(request, cost=cost)])
    tell(view, request, quota)


def charge_afterwards(view: APIView, request: Request, *, cost: int) -> None:
    """Take what a call has turned out to cost, as far as the bucket holds it."""
    quota = producer_limits.take_some(charge_of(request, cost=cost))
    _describe(view, quota)


def charge_of(request: Request, *, cost: int) -> Charge:
    """A call's cost for the request's producer."""
    key = key_of(request)
    return Charge(
        producer_id=key.producer_id,
        mode=key.mode,
        cost=cost,
        rate_per_second=key.rate_per_second,
        burst=key.rate_burst,
    )


def tell(view: APIView, request: Request, quota: Quota) -> None:
    """Tell in the view's headers what a charge has left.

    Raises:
        Refusal: it was not granted (429).
    """
    _describe(view, quota)
    if not quota.granted:
        key = key_of(request)
        said = f"{key.producer_name} may write {key.rate_per_second} times a second"
        refuse(Problem(Kind.RATE_LIMITED, said, (), quota.retry_after))


def peek(view: APIView, request: Request) -> None:
    """Tell in the view's headers what is left, for a call that costs nothing."""
    [quota] = producer_limits.take([charge_of(request, cost=0)])
    _describe(view, quota)


def _describe(view: APIView, quota: Quota) -> None:
    window = max(1, math.ceil(quota.window.total_seconds()))
    full_in = math.ceil(quota.full_in.total_seconds())
    view.headers["RateLimit-Policy"] = f"{_POLICY};q={quota.burst};w={window}"
    view.headers["RateLimit"] = f"{_POLICY};r={quota.remaining};t={full_in}"
