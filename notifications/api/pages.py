"""Query strings and cursors. A cursor is the last id that was shown: stable and cheap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, TypeVar
from uuid import UUID

from pydantic import Field, ValidationError
from rest_framework.request import Request

from notifications.api.door import MAX_ID
from notifications.api.problems import refuse
from notifications.api.shapes import Asked
from notifications.rules import faults
from notifications.rules.problems import Source

MAX_LIMIT: Final = 100
Query = TypeVar("Query", bound=Asked)

SmallId = Annotated[int, Field(ge=1, le=MAX_ID)]
"""The id of something that is not partitioned."""


class PageQuery(Asked):
    """What every list understands."""

    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50


class NumberedPageQuery(PageQuery):
    """A list of things with small ids."""

    cursor: SmallId | None = None


class DatedPageQuery(PageQuery):
    """A list of notifications."""

    cursor: UUID | None = None


def asked(request: Request, query: type[Query]) -> Query:
    """Check the query string; of a repeated parameter the last one counts.

    Raises:
        Refusal: a parameter is unknown or wrong (422).
    """
    try:
        return query.model_validate(request.query_params.dict())
    except ValidationError as error:
        refuse(faults.invalid(error, query, source=Source.QUERY))


def page(results: Sequence[Any], *, following: object) -> dict[str, Any]:
    """A list's answer; `following` is the next page's cursor, or None."""
    return {"results": results, "next": None if following is None else str(following)}
