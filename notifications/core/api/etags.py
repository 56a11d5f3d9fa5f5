"""ETags against lost updates: a writer notices a concurrent change.

    GET    has an ETag in the response; If-None-Match with the same ETag gets a 304
    write  with If-Match is refused (412) if the object has changed since
    PUT    with `If-None-Match: *` creates and never replaces

Requests without these headers are not checked. A write computes the current ETag under a row lock,
which is held until the commit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

import orjson
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api.problems import raise_problem
from notifications.core.rules.problems import FieldError, Kind, Problem, Source

IF_MATCH: Final = OpenApiParameter(
    "If-Match",
    {"type": "string"},
    OpenApiParameter.HEADER,
    description="The ETag from the last read: 412 if the object has changed since.",
)
IF_NONE_MATCH: Final = OpenApiParameter(
    "If-None-Match",
    {"type": "string"},
    OpenApiParameter.HEADER,
    description="A GET with the current ETag gets a 304 response. A PUT with `*` only creates.",
)


def tag_of(told: Mapping[str, Any], *, without: Collection[str] = ()) -> str:
    """Return the ETag of a response body, ignoring the fields in `without`."""
    kept = {name: value for name, value in told.items() if name not in without}
    encoded = orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)
    return f'"{hashlib.blake2b(encoded, digest_size=12).hexdigest()}"'


def etag_response(
    request: Request, told: Mapping[str, Any], tag: str, *, status: int = 200
) -> Response:
    """Return the response with an ETag, or a 304 if the client has the current version."""
    if is_known(request, tag):
        return Response(status=304, headers={"ETag": tag})
    return Response(told, status=status, headers={"ETag": tag})


def is_known(request: Request, tag: str) -> bool:
    """Return True if a GET has the ETag in If-None-Match."""
    known = request.headers.get("If-None-Match")
    return request.method == "GET" and known is not None and _matches(known, tag)


def check(request: Request, current: Callable[[], str | None]) -> None:
    """Refuse a write with a failed If-Match or If-None-Match condition.

    Args:
        request: the request.
        current: locks the object and returns the ETag, None without an object; called only when the
            request has a condition.

    Raises:
        ProblemError: the object has changed, or exists already (412).
    """
    wanted = request.headers.get("If-Match")
    unwanted = request.headers.get("If-None-Match")
    if wanted is None and unwanted is None:
        return
    tag = current()
    if wanted is not None and not _matches(wanted, tag):
        raise_problem(
            _precondition_problem("If-Match", "the object has changed: read the object again")
        )
    if unwanted is not None and _matches(unwanted, tag):
        raise_problem(_precondition_problem("If-None-Match", "the object already exists"))


def _precondition_problem(header: str, said: str) -> Problem:
    return Problem(Kind.PRECONDITION_FAILED, said, (FieldError(f"/{header}", said, Source.HEADER),))


def _matches(header: str, tag: str | None) -> bool:
    if tag is None:
        return False
    tags = {each.strip().removeprefix("W/") for each in header.split(",")}
    return "*" in tags or tag in tags
