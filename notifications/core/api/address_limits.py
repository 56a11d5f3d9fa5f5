"""Rate limits by address for clients without a key: 429 with Retry-After.

    open paths                   every request counts
    a wrong key or signature     counts; a valid key or signature always passes
    a recipient token            counts for the token and the recipient: phones share an address
    a tracked link or pixel      the same; over the limit the visit is not recorded

The limits bound the database queries of unknown clients. A client with a valid key is not blocked
by the failures of another client at the same address, as soon as the process has recognised the key
once.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Final, NoReturn

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.request import Request

from notifications.core.api import clients
from notifications.core.api.problems import raise_problem, respond
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.recipient_tokens import RecipientToken
from notifications.core.store.rate_limits import address_limits
from notifications.core.store.rate_limits.address_limits import Bucket

OPEN_PATHS: Final = (
    *("/l/", "/unsubscribe/", "/preferences/", "/problems/"),
    *("/v1/schema", "/v1/docs", "/readyz", "/metrics"),
)
"""Prefixes of paths which need neither key nor session and cost more than `/healthz`."""


class AddressLimits:
    """Middleware: counts requests to open paths."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request, or answer 429 when the address is over the limit."""
        if request.path_info.startswith(OPEN_PATHS):
            waits = address_limits.take(Bucket.OPEN, _client_key(request))
            if waits:
                return respond(_problem(waits), request)
        return self._get_response(request)


def raise_failed(request: HttpRequest | Request, problem: Problem) -> NoReturn:
    """Refuse a request with a wrong key or signature, and count the failure.

    Raises:
        ProblemError: `problem`, or 429 when the address has failed too often.
    """
    waits = address_limits.take(Bucket.FAILED, _client_key(request))
    raise_problem(_problem(waits) if waits else problem)


def check_failures(request: HttpRequest | Request) -> None:
    """Refuse an address with too many failures before the database is queried.

    Raises:
        ProblemError: the address must wait (429).
    """
    if waits := address_limits.wait(Bucket.FAILED, _client_key(request)):
        raise_problem(_problem(waits))


def wait_of_recipient(recipient_id: int) -> dt.timedelta:
    """Count a request for a recipient; return the wait, zero if the request is granted."""
    return address_limits.take(Bucket.RECIPIENT, str(recipient_id))


def check_recipient(recipient_id: int) -> None:
    """Count a request of a recipient's app.

    Raises:
        ProblemError: the recipient's apps send too many requests (429).
    """
    if waits := wait_of_recipient(recipient_id):
        said = "the apps of this recipient send too many requests"
        raise_problem(Problem(Kind.RATE_LIMITED, said, (), waits))


def check_token(token: RecipientToken) -> None:
    """Count a call with a recipient token, for the token and for the recipient.

    A token has half of the recipient's limit, so a thief with one token leaves room for the
    recipient's other devices. A refused call of a token costs the recipient nothing.

    Raises:
        ProblemError: the token, or all tokens of the recipient, send too many requests (429).
    """
    if waits := address_limits.take(Bucket.TOKEN, token.name):
        said = "this recipient token sends too many requests"
        raise_problem(Problem(Kind.RATE_LIMITED, said, (), waits))
    check_recipient(token.recipient_id)


def _client_key(request: HttpRequest | Request) -> str:
    return clients.rate_limit_key(clients.address_of(request.META))


def _problem(waits: dt.timedelta) -> Problem:
    said = "this address sends too many requests without a valid key"
    return Problem(Kind.RATE_LIMITED, said, (), waits)
