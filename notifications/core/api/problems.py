"""Errors as RFC 9457 problem details, raised by a view, DRF, Django or the router.

`type` and `code` name the problem and are the same in every installation; `help` is the URL of a
page of the service with a remedy. No response of the API is an HTML error page or a stack trace.
"""

from __future__ import annotations

import datetime as dt
import math
import sys
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeVar

import orjson
from django.core.exceptions import (
    BadRequest,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.db import Error, InterfaceError, InternalError, OperationalError, connection
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views import defaults
from rest_framework import exceptions
from rest_framework.request import Request

from notifications.core import conf
from notifications.core.api import correlation
from notifications.core.models import Recipient
from notifications.core.rules.problems import Kind, Problem, Refused
from notifications.core.store.postgres import db, db_errors
from notifications.core.store.postgres.backend.base import NotReplicatedError
from notifications.core.store.postgres.backend.hung_servers import HungServerError

Made = TypeVar("Made")
MEDIA_TYPE: Final = "application/problem+json"
_WAIT_FOR_DATABASE: Final = dt.timedelta(seconds=2)
"""Approximate duration of a restart of Postgres."""

_WAIT_FOR_READERS: Final = dt.timedelta(seconds=1)

CURES: Final = MappingProxyType({
    Kind.MALFORMED: (
        "Malformed request",
        "The body is not one JSON object in UTF-8. Send it with Content-Length, not chunked.",
    ),
    Kind.UNAUTHENTICATED: (
        "Not authenticated",
        "Send a valid key in the header Authorization: Bearer nk_...",
    ),
    Kind.FORBIDDEN: (
        "Forbidden",
        "The key lacks the scope, or the producer lacks the permission. Ask an operator.",
    ),
    Kind.NOT_FOUND: (
        "Not found",
        "The key's producer has no such object in the key's mode.",
    ),
    Kind.METHOD_NOT_ALLOWED: ("Method not allowed", "Use a method from the Allow header."),
    Kind.NOT_ACCEPTABLE: ("Not acceptable", "Accept application/json."),
    Kind.IN_PROGRESS: (
        "Still in progress",
        "A call with this idempotency key is running. Repeat the call after Retry-After seconds.",
    ),
    Kind.CONFLICT: (
        "Conflict",
        "The object's state forbids the call. Read the object again.",
    ),
    Kind.PRECONDITION_FAILED: (
        "Precondition failed",
        "Read the object again and send the new ETag in If-Match.",
    ),
    Kind.TOO_LARGE: ("Too large", "Send a smaller body: 1 MiB, or 16 MiB for a batch."),
    Kind.UNSUPPORTED_MEDIA_TYPE: (
        "Unsupported media type",
        "Send Content-Type: application/json.",
    ),
    Kind.INVALID: (
        "Invalid",
        "Correct the fields listed in `errors`. The same request would fail again.",
    ),
    Kind.UNKNOWN_RECIPIENT: (
        "Unknown recipient",
        "Create the recipient first: PUT /v1/recipients/{user_id}, with a key of the same mode.",
    ),
    Kind.KEY_REUSED: (
        "Idempotency key reused",
        "Use a new key for a new request. A key belongs to the first body for 24 hours.",
    ),
    Kind.MISDIRECTED: (
        "Misdirected request",
        "Call the URL in `detail`: the live process answers server-sent events.",
    ),
    Kind.RATE_LIMITED: (
        "Rate limited",
        "Send fewer requests. Repeat the call after Retry-After seconds.",
    ),
    Kind.LANE_BEHIND: (
        "Lane behind",
        "Too many P3 messages of the channel wait. Post again after Retry-After seconds.",
    ),
    Kind.SMS_PUMPING_ADDRESS: (
        "Too many SMS to a number",
        "Protection against SMS pumping. Post again after Retry-After seconds.",
    ),
    Kind.SMS_PUMPING_PREFIX: (
        "Too many SMS to a prefix",
        "Protection against SMS pumping. Post again after Retry-After seconds, or ask an operator.",
    ),
    Kind.SMS_PUMPING_COUNTRY: (
        "Too many SMS to a country",
        "Protection against SMS pumping. Post again after Retry-After seconds, or ask an operator.",
    ),
    Kind.COUNTRY_NOT_ALLOWED: (
        "Country not allowed",
        "The producer may not send SMS to this country. Use another channel, or ask an operator.",
    ),
    Kind.UNAVAILABLE: (
        "Unavailable",
        "The call may be stored. Repeat it with the same idempotency key after Retry-After.",
    ),
})
"""Kind -> title and remedy."""


class ProblemError(Refused):
    """The request fails with `problem`."""


class TooManyReaders(OSError):
    """Too many threads wait for bodies; the body was not read and the client should retry.

    `wsgi.input` raises the error, and Django converts the error to an UnreadablePostError.
    """


def raise_problem(problem: Problem) -> NoReturn:
    """Fail the current request with a problem.

    Raises:
        ProblemError: always.
    """
    raise ProblemError(problem)


def unless_refused(made: Made | Problem) -> Made:
    """Return the result of a stage.

    Raises:
        ProblemError: the stage has returned a problem.
    """
    return raise_problem(made) if isinstance(made, Problem) else made


def body(problem: Problem, *, within: str = "") -> dict[str, Any]:
    """Return a problem as a JSON object, without `instance`.

    Args:
        problem: the problem.
        within: JSON pointer which prefixes the pointers of the errors.
    """
    said: dict[str, Any] = {
        "type": problem.kind.uri,
        "code": problem.kind.value,
        "title": CURES[problem.kind][0],
        "status": int(problem.kind.status),
        "detail": problem.detail,
        "help": f"{conf.current().public_url}/problems/{problem.kind}",
    }
    errors = [
        {
            "source": error.source.value,
            "pointer": within + error.pointer,
            "detail": error.detail,
        }
        for error in problem.errors
    ]
    if problem.retry_after is not None:
        said["retry_after"] = int(_seconds(problem.retry_after))
    return said | {"errors": errors} if errors else said


def respond(problem: Problem, request: HttpRequest) -> HttpResponse:
    """Return a problem as the HTTP response of a request."""
    response = _response(body(problem), request)
    if problem.retry_after is not None:
        response["Retry-After"] = _seconds(problem.retry_after)
    if problem.kind is Kind.UNAUTHENTICATED or problem.challenge:
        response["WWW-Authenticate"] = f"Bearer {problem.challenge}".rstrip()
    return response


def answer(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """Convert an exception for DRF; None leaves an unexpected exception to `server_error`."""
    if isinstance(error, exceptions.UnsupportedMediaType):
        return respond(_media_type(context["request"]), context["request"])
    problem = _problem_of(error)
    return None if problem is None else respond(problem, context["request"])


def _media_type(request: Request) -> Problem:
    """Return the refusal of a body with another media type than the path takes."""
    types = " or ".join(each.media_type for each in request.parsers or ())
    return Problem(Kind.UNSUPPORTED_MEDIA_TYPE, f"send the body with Content-Type: {types}")


def _problem_of(error: Exception) -> Problem | None:
    if isinstance(error, Refused):
        return error.problem
    if isinstance(error, exceptions.APIException):
        return _of_framework(error)
    if problem := _of_cause(error.__cause__):
        return problem
    if db_errors.is_too_large(error):
        return _TOO_LARGE_TO_STORE
    if isinstance(error, InternalError) and db.is_read_only(error):
        connection.close()  # a failover: the next session may find the new primary
        return _AWAY
    return next((problem for types, problem in _MEANINGS if isinstance(error, types)), None)


def _of_cause(cause: BaseException | None) -> Problem | None:
    if isinstance(cause, TooManyReaders):
        return Problem(Kind.UNAVAILABLE, str(cause), (), _WAIT_FOR_READERS)
    return _UNCONFIRMED if isinstance(cause, NotReplicatedError | HungServerError) else None


def _of_framework(error: exceptions.APIException) -> Problem:
    return Problem(_BY_STATUS.get(error.status_code, Kind.MALFORMED), str(error.detail))


_UNREADABLE: Final = Problem(Kind.MALFORMED, "the request cannot be read")
_NO_PATH: Final = Problem(
    Kind.NOT_FOUND,
    "unknown path, or malformed id in the path; /v1/docs lists all paths",
)
_FORBIDDEN: Final = Problem(Kind.FORBIDDEN, "this is not allowed")
_AWAY: Final = Problem(Kind.UNAVAILABLE, "the database is away", (), _WAIT_FOR_DATABASE)
_UNCONFIRMED: Final = Problem(
    Kind.UNAVAILABLE,
    "the database did not confirm the commit on a standby; repeat the request with its key",
    (),
    _WAIT_FOR_DATABASE,
)
_TOO_LARGE_TO_STORE: Final = Problem(
    Kind.INVALID, "a value is larger than the database can store; nothing was stored"
)
_MEANINGS: Final[tuple[tuple[tuple[type[Exception], ...], Problem], ...]] = (
    ((OperationalError, InterfaceError), _AWAY),
    ((Http404,), Problem(Kind.NOT_FOUND, "unknown path")),
    # Erased between the read of the recipient and the change.
    ((Recipient.DoesNotExist,), Problem(Kind.NOT_FOUND, "unknown recipient")),
    ((RequestDataTooBig,), Problem(Kind.TOO_LARGE, "the body is too large")),
    ((SuspiciousOperation, BadRequest, UnreadablePostError), _UNREADABLE),
    ((PermissionDenied,), _FORBIDDEN),
)
"""Exception types -> problem. The first matching entry applies."""
_BY_STATUS: Final = {
    401: Kind.UNAUTHENTICATED,
    403: Kind.FORBIDDEN,
    404: Kind.NOT_FOUND,
    405: Kind.METHOD_NOT_ALLOWED,
    406: Kind.NOT_ACCEPTABLE,
    415: Kind.UNSUPPORTED_MEDIA_TYPE,
}


def _response(said: dict[str, Any], request: HttpRequest) -> HttpResponse:
    said = said | {"instance": correlation.trace_id(request)}
    return HttpResponse(orjson.dumps(said), content_type=MEDIA_TYPE, status=said["status"])


# --- Errors raised by Django: browsers get Django's error pages, other clients a problem ---


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Handle a 400 of Django (`handler400`), such as a forbidden host."""
    if _is_browser(request):
        return defaults.bad_request(request, exception)
    return respond(_UNREADABLE, request)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Handle a 403 of Django (`handler403`)."""
    if _is_browser(request):
        return defaults.permission_denied(request, exception)
    return respond(_FORBIDDEN, request)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Handle a path without a view (`handler404`)."""
    if _is_browser(request):
        return defaults.page_not_found(request, exception)
    return respond(_NO_PATH, request)


def server_error(request: HttpRequest) -> HttpResponseBase:
    """Handle an unexpected exception or an unavailable database (`handler500`).

    The log has the stack trace under the trace id; the response has the trace id only.
    """
    error = sys.exc_info()[1]
    away = _problem_of(error) if isinstance(error, Error) else None
    if away is not None:
        return _unavailable(away, request)
    if _is_browser(request):
        return defaults.server_error(request)
    said = {
        "type": "about:blank",
        "code": "internal-error",
        "title": "Internal server error",
        "status": 500,
        "detail": "internal error; the log has the details under this instance",
    }
    return _response(said, request)


def _unavailable(away: Problem, request: HttpRequest) -> HttpResponse:
    if not _is_browser(request):
        return respond(away, request)
    response = _page(request, away.kind, status=int(away.kind.status))
    response["Retry-After"] = _seconds(_WAIT_FOR_DATABASE)
    return response


def _seconds(wait: dt.timedelta) -> str:
    return str(max(1, math.ceil(wait.total_seconds())))


def _is_browser(request: HttpRequest) -> bool:
    return "text/html" in request.headers.get("Accept", "")


def page(request: HttpRequest, kind: str) -> HttpResponse:
    """Return the help page of a problem.

    Raises:
        Http404: the kind of problem is unknown.
    """
    if kind not in frozenset(Kind):
        raise Http404
    return _page(request, Kind(kind), status=int(HTTPStatus.OK))


def _page(request: HttpRequest, kind: Kind, *, status: int) -> HttpResponse:
    title, cure = CURES[kind]
    told = {"title": title, "cure": cure, "status": int(kind.status), "kind": kind.value}
    return render(request, "api/problem.html", told, status=status)
