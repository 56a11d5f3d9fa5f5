"""Outcomes of HTTP answers and missing answers, shared by all HTTP vendors.

A vendor's table comes first; the shared table decides the rest:

| answer | outcome |
| --- | --- |
| 2xx | the vendor's `accepted` |
| 401, 403, 407 | Misconfigured |
| 408, 425, 5xx | Unavailable, with Retry-After |
| 429 | Throttled, with Retry-After |
| other 3xx, 4xx | Rejected; redirects are never followed |
| none, not begun before the deadline | NotStarted |
| none, nothing sent | Unavailable |
| none, something sent | Unanswered |
| refused by the guard | Rejected |
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from http import HTTPStatus
from typing import Final, assert_never

from providers import graphemes
from providers.contract import (
    Finding,
    Misconfigured,
    NotStarted,
    Outcome,
    Rejected,
    Throttled,
    Unanswered,
    Unavailable,
)
from providers.transport import Failure, FailureKind, Reply, Response

MISCONFIGURED: Final = frozenset({401, 403, 407})
TRY_AGAIN: Final = frozenset({408, 425})
"""The server stopped reading the request, or refused an early request: nothing was acted on."""
TOO_MANY: Final = 429
NOT_STARTED: Final = "not_started"
"""The `Failure.code` of a request whose deadline passed while it waited for a free slot, or for
which the process could open no socket."""

DETAIL_LIMIT: Final = 200
"""Number of kept characters of an answer: enough for every vendor's message."""


def outcome_of(
    reply: Reply,
    *,
    accepted: Callable[[Response], Outcome],
    hide: str,
    dead: Collection[int] = (),
) -> Outcome:
    """Judge a reply.

    `accepted` reads a 2xx; `hide` is the address, removed from every detail; `dead` holds the
    statuses of a gone address.
    """
    match reply:
        case Failure():
            return of_failure(reply)
        case Response() if reply.is_success:
            return accepted(reply)
        case Response(status=status) if status in dead:
            detail = excerpt(reply.body, hide=hide)
            return Rejected(code=str(status), detail=detail, contact_is_dead=True)
        case Response():
            return of_status(reply, detail=excerpt(reply.body, hide=hide))
        case _:
            assert_never(reply)


def of_status(response: Response, *, detail: str, code: str = "") -> Outcome:
    """Judge an answer that is no success; `code` is the vendor's name of the error, if known."""
    status, code = response.status, code or str(response.status)
    if status == TOO_MANY:
        return Throttled(code=code, detail=detail, retry_after=response.retry_after)
    if status in MISCONFIGURED:
        return Misconfigured(code=code, detail=detail)
    if status in TRY_AGAIN or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Unavailable(code=code, detail=detail, retry_after=response.retry_after)
    return Rejected(code=code, detail=detail)


def of_failure(failure: Failure) -> Outcome:
    """Judge a missing answer."""
    match failure.kind:
        case FailureKind.NEVER_SENT if failure.code == NOT_STARTED:
            return NotStarted(code=failure.code)
        case FailureKind.NEVER_SENT:
            return Unavailable(code=failure.code)
        case FailureKind.NO_ANSWER:
            return Unanswered(code=failure.code)
        case FailureKind.REFUSED:
            return Rejected(code=failure.code)
        case _:
            assert_never(failure.kind)


def reachability(reply: Reply) -> Finding:
    """Return the finding of a plain GET of the vendor's address."""
    match reply:
        case Failure():
            detail = f"no answer: {reply.code}"
            return Finding(subject="reachability", is_good=False, detail=detail)
        case Response():
            is_up = reply.status < HTTPStatus.INTERNAL_SERVER_ERROR
            is_good = is_up and reply.status not in MISCONFIGURED
            return Finding(subject="reachability", is_good=is_good, detail=f"HTTP {reply.status}")
        case _:
            assert_never(reply)


def excerpt(body: bytes, *, hide: str) -> str:
    """Return the start of an answer on one line, without the address."""
    text = body[: 4 * DETAIL_LIMIT].decode(errors="replace")
    if hide:
        text = text.replace(hide, "[address]")
    return graphemes.cut(" ".join(text.split()), DETAIL_LIMIT)
