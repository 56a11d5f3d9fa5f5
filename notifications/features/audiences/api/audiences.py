"""`/v1/audiences`: saved audience expressions, and the size of an audience."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Final

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api import schema, throttle
from notifications.core.api.authentication import actor_of, key_of
from notifications.core.api.base_view import MAX_ID, BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.pagination import NumberedPageQuery, newest_page, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.clock import monotonic
from notifications.core.models import Audience
from notifications.core.rules.request import Text
from notifications.core.store.postgres import audit
from notifications.features.audiences import expressions
from notifications.features.audiences.expressions import AudienceRefused
from notifications.features.audiences.rows import estimates
from notifications.features.audiences.rules import parse, wording
from notifications.features.audiences.rules.faults import ExpressionError

_PAID_BY: Final = dt.timedelta(milliseconds=50)
"""Time of an estimate that costs as much as a write, on top of the basic cost of 1."""


class AudienceRequest(RequestModel):
    """A saved audience."""

    name: Annotated[Text, Field(min_length=1, max_length=100)]
    """Unique in the mode; other audiences refer to the name."""
    description: Annotated[Text, Field(max_length=300)] = ""
    audience: dict[str, Any]
    """Audience expression, such as `{"attribute": "plan", "is": "pro"}`: `docs/audiences.md`."""


class EstimateRequest(RequestModel):
    """An audience to estimate."""

    audience: dict[str, Any]
    """Audience expression; see `docs/audiences.md`."""


class AudienceAnswer(ResponseModel):
    """A saved audience."""

    id: int
    name: str
    description: str
    audience: dict[str, Any]
    words: str
    """The expression in words."""
    created_at: dt.datetime
    created_by: str
    changed_at: dt.datetime
    changed_by: str


class EstimateAnswer(ResponseModel):
    """The size of an audience."""

    count: int
    is_exact: bool
    error: float
    """Half of the interval that holds the true size in 95 of 100 cases, in recipients; 0: exact."""
    words: str
    """The expression in words."""


class AudienceListView(BaseView):
    """`/v1/audiences`: list and create saved audiences."""

    @extend_schema(
        operation_id="list_audiences",
        summary="List saved audiences, newest first",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(AudienceAnswer)},
        tags=["Audiences"],
    )
    def get(self, request: Request) -> Response:
        """List the saved audiences of the key's mode."""
        query = parse_query(request, NumberedPageQuery)
        return newest_page(request, query, _rows(request), _to_answer)

    @extend_schema(
        operation_id="create_audience",
        summary="Save an audience",
        request=AudienceRequest,
        responses={201: AudienceAnswer},
        tags=["Audiences"],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Save an audience expression under a name; other expressions use `{"audience": name}`."""
        by = actor_of(request)
        row = Audience(mode=key_of(request).mode, created_by=by)
        return Response(_save(request, row, "create_audience"), status=201)


class AudienceDetailView(BaseView):
    """`/v1/audiences/{audience_id}`: read, replace and delete a saved audience."""

    @extend_schema(
        operation_id="get_audience",
        summary="Read a saved audience",
        responses={200: AudienceAnswer},
        tags=["Audiences"],
    )
    def get(self, request: Request, audience_id: int) -> Response:
        """Return a saved audience."""
        return Response(_to_answer(_find(request, audience_id)))

    @extend_schema(
        operation_id="put_audience",
        summary="Replace a saved audience",
        request=AudienceRequest,
        responses={200: AudienceAnswer},
        tags=["Audiences"],
    )
    def put(self, request: Request, audience_id: int) -> Response:
        """Replace name, description and expression.

        Audiences with the name use the new expression. The name of an audience that others use
        cannot change.
        """
        return Response(_save(request, _find(request, audience_id), "put_audience"))

    @extend_schema(
        operation_id="delete_audience",
        summary="Delete a saved audience",
        responses={204: None},
        tags=["Audiences"],
    )
    def delete(self, request: Request, audience_id: int) -> Response:
        """Delete a saved audience, unless another saved audience uses the name."""
        row = _find(request, audience_id)
        rows = Audience.objects.filter(pk=row.pk)
        try:
            with audit.changes(actor_of(request), "delete_audience", rows):
                expressions.delete(row)
        except AudienceRefused as error:
            raise_problem(error.problem)
        return Response(status=204)


class AudienceEstimateView(BaseView):
    """`/v1/audiences/estimate`: the size of an audience."""

    @extend_schema(
        operation_id="estimate_audience",
        summary="Estimate the size of an audience",
        request=EstimateRequest,
        responses={200: EstimateAnswer},
        tags=["Audiences"],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Return the number of recipients, within a second: exact, or from a sample."""
        started = monotonic()
        try:
            return self._estimate(request)
        finally:
            took = dt.timedelta(seconds=monotonic() - started)
            throttle.charge_afterwards(self, request, cost=took // _PAID_BY)

    def _estimate(self, request: Request) -> Response:
        wanted, mode = parse_body(request.data, EstimateRequest), key_of(request).mode
        try:
            expression = expressions.check(wanted.audience, mode=mode)
        except ExpressionError as error:
            raise_problem(error.problem(within="/audience"))
        found = estimates.estimate(expression, mode=mode)
        told = EstimateAnswer(
            count=found.count,
            is_exact=found.is_exact,
            error=round(found.error, 1),
            words=wording.describe(expression),
        )
        return Response(told.to_json())


def _save(request: Request, row: Audience, operation: str) -> dict[str, Any]:
    wanted, by = parse_body(request.data, AudienceRequest), actor_of(request)
    row.name, row.description = wanted.name, wanted.description
    rows = Audience.objects.filter(mode=row.mode, name=wanted.name)
    if row.pk is not None:
        rows = Audience.objects.filter(pk=row.pk)
    try:
        with audit.changes(by, operation, rows):
            return _to_answer(expressions.save(row, wanted.audience, by=by))
    except ExpressionError as error:
        raise_problem(error.problem(within="/audience"))
    except AudienceRefused as error:
        raise_problem(error.problem)


def _rows(request: Request) -> QuerySet[Audience]:
    return Audience.objects.filter(mode=key_of(request).mode)


def _find(request: Request, audience_id: int) -> Audience:
    row = _rows(request).filter(pk=min(audience_id, MAX_ID)).first()
    if row is None:
        raise_not_found("audience")
    return row


def _to_answer(row: Audience) -> dict[str, Any]:
    return AudienceAnswer(
        id=row.pk,
        name=row.name,
        description=row.description,
        audience=row.expression,
        words=wording.describe(parse.parse(row.expression)),
        created_at=row.created_at,
        created_by=row.created_by,
        changed_at=row.changed_at,
        changed_by=row.changed_by,
    ).to_json()
