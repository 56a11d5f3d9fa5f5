"""Query strings and pagination. A cursor is the id of the last result on the page."""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from pydantic import BaseModel, Field, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api.base_view import MAX_ID
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import RequestModel
from notifications.core.rules import request_faults
from notifications.core.rules.problems import Source

MAX_LIMIT: Final = 100
MAX_VALUES: Final = 50
"""Maximum number of values for a filter."""
Query = TypeVar("Query", bound=BaseModel)
Row = TypeVar("Row", bound=Model)
Value = TypeVar("Value")

SmallId = Annotated[int, Field(ge=1, le=MAX_ID)]
"""The id of a row in a table without partitions."""
AnyOf = Annotated[list[Value], Field(max_length=MAX_VALUES)]
"""A filter with several values: the parameter is repeated for every value."""


class PageQuery(RequestModel):
    """Parameters of all lists."""

    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    """Maximum number of results per page."""


class NumberedPageQuery(PageQuery):
    """Parameters of a list with integer ids."""

    cursor: SmallId | None = None
    """The value of `next` on the previous page."""


class DatedPageQuery(PageQuery):
    """Parameters of a list of notifications."""

    cursor: UUID | None = None
    """The value of `next` on the previous page."""


def parse_query(request: Request, query: type[Query]) -> Query:
    """Validate the query string. The last value of a repeated single-value parameter counts.

    Raises:
        ProblemError: a parameter is unknown or invalid (422).
    """
    given = request.query_params
    lists = {name for name, field in query.model_fields.items() if _is_list(field.annotation)}
    values = {name: given.getlist(name) if name in lists else given[name] for name in given}
    try:
        return query.model_validate(values)
    except ValidationError as error:
        raise_problem(request_faults.invalid(error, query, source=Source.QUERY))


def page(request: Request, results: Sequence[Any], *, following: object) -> Response:
    """Return a page of a list, with the URL of the next page in the Link header (RFC 8288).

    Args:
        request: the request.
        results: the results of the page.
        following: the cursor of the next page; None on the last page.
    """
    if following is None:
        return Response({"results": results, "next": None})
    headers = link_header(request, str(following))
    return Response({"results": results, "next": str(following)}, headers=headers)


def link_header(request: Request, following: str) -> dict[str, str]:
    """Return the Link header with the URL of the next page.

    Args:
        request: the request.
        following: the cursor of the next page.
    """
    query = request.query_params.copy()
    query["cursor"] = following
    return {"Link": f'<{request.path}?{query.urlencode()}>; rel="next"'}


def newest_rows(
    query: NumberedPageQuery | DatedPageQuery, rows: QuerySet[Row]
) -> tuple[list[Row], int | UUID | None]:
    """Return the rows of a page, newest first, and the cursor of the next page.

    The cursor is None on the last page.

    Args:
        query: the parameters; `cursor` is the id of the last result on the previous page.
        rows: the rows of all pages, in any order.
    """
    if query.cursor is not None:
        rows = rows.filter(pk__lt=query.cursor)
    found = list(rows.order_by("-pk")[: query.limit + 1])
    shown = found[: query.limit]
    return shown, shown[-1].pk if len(found) > query.limit else None


def newest_page(
    request: Request,
    query: NumberedPageQuery,
    rows: QuerySet[Row],
    answer_of: Callable[[Row], dict[str, Any]],
) -> Response:
    """Return the page of a query, newest first.

    Args:
        request: the request.
        query: the parameters, as for `newest_rows`.
        rows: the rows of all pages, in any order.
        answer_of: builds the result of a row.
    """
    shown, following = newest_rows(query, rows)
    return page(request, [answer_of(row) for row in shown], following=following)


def _is_list(annotation: object) -> bool:
    return typing.get_origin(annotation) is list
