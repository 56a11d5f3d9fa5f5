"""Query strings and cursors. A cursor is the last id that was shown: stable and cheap."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Annotated, Any, Final, TypeVar
from uuid import UUID

from pydantic import Field, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.api.base_view import MAX_ID
from notifications.api.problems import refuse
from notifications.api.schemas import Asked
from notifications.rules import request_faults
from notifications.rules.problems import Source

MAX_LIMIT: Final = 100
MAX_VALUES: Final = 50
"""Values of one filter."""
Query = TypeVar("Query", bound=Asked)
Value = TypeVar("Value")

SmallId = Annotated[int, Field(ge=1, le=MAX_ID)]
"""The id of something that is not partitioned."""
AnyOf = Annotated[list[Value], Field(max_length=MAX_VALUES)]
"""A filter that takes several values: its parameter stands once for each."""


class PageQuery(Asked):
    """What every list understands."""

    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    """Most results of one page."""


class NumberedPageQuery(PageQuery):
    """A list of things with small ids."""

    cursor: SmallId | None = None
    """`next` of the page before."""


class DatedPageQuery(PageQuery):
    """A list of notifications."""

    cursor: UUID | None = None
    """`next` of the page before."""


def asked(request: Request, query: type[Query]) -> Query:
    """Check the query string; of a repeated parameter that takes one value the last one counts.

    Raises:
        Refusal: a parameter is unknown or wrong (422).
    """
    given = request.query_params
    lists = {name for name, field in query.model_fields.items() if _is_list(field.annotation)}
    values = {name: given.getlist(name) if name in lists else given[name] for name in given}
    try:
        return query.model_validate(values)
    except ValidationError as error:
        refuse(request_faults.invalid(error, query, source=Source.QUERY))


def page(request: Request, results: Sequence[Any], *, following: object) -> Response:
    """A list's answer, with the URL of its next page in the Link header (RFC 8288).

    Args:
        request: the call.
        results: what the page shows.
        following: the cursor of the next page; None: there is none.
    """
    if following is None:
        return Response({"results": results, "next": None})
    query = request.query_params.copy()
    query["cursor"] = str(following)
    link = f'<{request.path}?{query.urlencode()}>; rel="next"'
    return Response({"results": results, "next": str(following)}, headers={"Link": link})


def _is_list(annotation: object) -> bool:
    return typing.get_origin(annotation) is list
