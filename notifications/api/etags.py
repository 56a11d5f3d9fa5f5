"""ETags: two people who change one object at once notice it, instead of the last one winning.

    GET    answers with an ETag; If-None-Match with the same one gets a 304
    write  with If-Match is refused (412) when the object has changed since
    PUT    with `If-None-Match: *` creates and never replaces

Without these headers nothing is checked. A write looks at the object under a lock that it keeps
until it has committed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

import orjson
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.api.problems import refuse
from notifications.rules.problems import FieldError, Kind, Problem, Source

IF_MATCH: Final = OpenApiParameter(
    "If-Match",
    {"type": "string"},
    OpenApiParameter.HEADER,
    description="The ETag of what was read: the call is refused when the object has changed since.",
)
IF_NONE_MATCH: Final = OpenApiParameter(
    "If-None-Match",
    {"type": "string"},
    OpenApiParameter.HEADER,
    description="A read with the ETag of what is known answers 304; a PUT with `*` only creates.",
)


def tag_of(told: Mapping[str, Any], *, without: Collection[str] = ()) -> str:
    """The ETag of an answer, but for fields that change by themselves."""
    kept = {name: value for name, value in told.items() if name not in without}
    encoded = orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)
    return f'"{hashlib.blake2b(encoded, digest_size=12).hexdigest()}"'


def tagged(request: Request, told: Mapping[str, Any], tag: str, *, status: int = 200) -> Response:
    """An answer with its ETag; to a read that has it already, a 304 without a body."""
    known = request.headers.get("If-None-Match")
    if request.method == "GET" and known is not None and _matches(known, tag):
        return Response(status=304, headers={"ETag": tag})
    return Response(told, status=status, headers={"ETag": tag})


def check(request: Request, current: Callable[[], str | None]) -> None:
    """Refuse a write whose conditions do not hold.

    Args:
        request: the call.
        current: locks the object and returns its ETag, None where there is no object; it is called
            only when there is a condition.

    Raises:
        Refusal: the object has changed, or exists already (412).
    """
    wanted = request.headers.get("If-Match")
    unwanted = request.headers.get("If-None-Match")
    if wanted is None and unwanted is None:
        return
    tag = current()
    if wanted is not None and not _matches(wanted, tag):
        refuse(_failed("If-Match", "the object is not what it was: read it again"))
    if unwanted is not None and _matches(unwanted, tag):
        refuse(_failed("If-None-Match", "the object exists already"))


def _failed(header: str, said: str) -> Problem:
    return Problem(Kind.PRECONDITION_FAILED, said, (FieldError(f"/{header}", said, Source.HEADER),))


def _matches(header: str, tag: str | None) -> bool:
    if tag is None:
        return False
    tags = {each.strip().removeprefix("W/") for each in header.split(",")}
    return "*" in tags or tag in tags
