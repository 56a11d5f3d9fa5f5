"""Limits for clients without a key, by address: 429 with Retry-After.

    open paths                   each request counts
    a wrong key or signature     counts; a good key or signature passes, however many failed

So a stranger can neither ask the database without end, nor keep out a caller who shares the
stranger's address and was recognised by this process before.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Final, NoReturn

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.request import Request

from notifications.api import clients
from notifications.api.problems import refuse, respond
from notifications.rules.problems import Kind, Problem
from notifications.store.rate_limits import address_limits
from notifications.store.rate_limits.address_limits import Bucket

OPEN_PATHS: Final = (
    *("/l/", "/unsubscribe/", "/problems/", "/v1/schema", "/v1/docs", "/readyz", "/metrics"),
)
"""Beginnings of paths that work without a key or a session, and cost more than `/healthz`."""


class AddressLimits:
    """Middleware: counts requests to open paths."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer a request, or refuse it."""
        if request.path_info.startswith(OPEN_PATHS):
            waits = address_limits.take(Bucket.OPEN, _counted(request))
            if waits:
                return respond(_problem(waits), request)
        return self._get_response(request)


def refuse_failed(request: HttpRequest | Request, problem: Problem) -> NoReturn:
    """Refuse a request whose key or signature is wrong, and count it.

    Raises:
        Refusal: `problem`, or 429 where the address has failed too often.
    """
    waits = address_limits.take(Bucket.FAILED, _counted(request))
    refuse(_problem(waits) if waits else problem)


def check_failures(request: HttpRequest | Request) -> None:
    """Let an address that fails too often ask nothing more of the database.

    Raises:
        Refusal: it must wait (429).
    """
    if waits := address_limits.wait(Bucket.FAILED, _counted(request)):
        refuse(_problem(waits))


def _counted(request: HttpRequest | Request) -> str:
    return clients.counted_as(clients.address_of(request.META))


def _problem(waits: dt.timedelta) -> Problem:
    said = "this address asks too often without a valid key"
    return Problem(Kind.RATE_LIMITED, said, (), waits)
