"""`/v1/series/{series_name}/enrolments`: recipients in a series."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field, model_validator
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api import problems, schema
from notifications.core.api.authentication import actor_of
from notifications.core.api.base_view import MAX_ID, BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.pagination import NumberedPageQuery, newest_page, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import ProblemDetails, RequestModel, ResponseModel
from notifications.core.rules.problems import Problem
from notifications.core.rules.request import Name, UserId, check_size
from notifications.core.store.postgres import audit
from notifications.features.series import enrolments
from notifications.features.series.api.series import find_series
from notifications.features.series.enrolments import MAX_AT_ONCE, EnrolResult, Person
from notifications.features.series.models import SeriesEnrolment, SeriesStepResult
from notifications.features.series.rules.states import EnrolmentState

MAX_CONTEXT_BYTES: Final = 16 * 1024
"""Variables of an enrolment as JSON."""


class EnrolmentItem(RequestModel):
    """A recipient to enrol."""

    user_id: UserId
    variables: dict[Name, Any] = Field(default_factory=dict)
    """Variables of the messages, at most 16 KiB."""

    @model_validator(mode="after")
    def _check_variables(self) -> Self:
        if self.variables:
            check_size(self.variables, MAX_CONTEXT_BYTES, "variables")
        return self


class EnrolmentRequest(RequestModel):
    """Up to 1000 recipients."""

    enrolments: Annotated[list[EnrolmentItem], Field(min_length=1, max_length=MAX_AT_ONCE)]


class EnrolmentResult(ResponseModel):
    """The result for a recipient."""

    result: Literal["enrolled", "unchanged", "rejected"]
    """`unchanged`: the recipient is in the series, or was before and `reentry` is `never`."""
    enrolment_id: int | None = None
    """Id of a new enrolment."""
    problem: ProblemDetails | None = None


class EnrolmentResults(ResponseModel):
    """A result for every recipient, in order."""

    results: list[EnrolmentResult]


class StepLine(ResponseModel):
    """The result of a step."""

    position: str
    """JSON pointer of the step in the definition."""
    outcome: str
    notification_id: UUID | None
    detail: str
    at: dt.datetime


class EnrolmentLine(ResponseModel):
    """An enrolment in a list."""

    id: int
    user_id: str
    version: int
    state: EnrolmentState
    exit_reason: str
    position: str
    """JSON pointer of the present step; empty after the last step."""
    due_at: dt.datetime | None
    """End of the present wait; null: the enrolment has ended."""
    problem: str
    """Reason of a delay; empty without a delay."""
    enrolled_at: dt.datetime
    ended_at: dt.datetime | None


class EnrolmentAnswer(EnrolmentLine):
    """An enrolment with the results of the steps."""

    variables: dict[str, Any]
    history: list[StepLine]


class EnrolmentQuery(NumberedPageQuery):
    """Filters of the list of enrolments."""

    user_id: UserId | None = None
    """Enrolments of this recipient."""
    state: EnrolmentState | None = None
    """Enrolments in this state."""


class EnrolmentListView(BaseView):
    """`/v1/series/{series_name}/enrolments`: enrol recipients, and list enrolments."""

    @extend_schema(
        operation_id="create_enrolments",
        summary="Enrol up to 1000 recipients in a series",
        request=EnrolmentRequest,
        responses={200: EnrolmentResults},
        tags=["Series"],
    )
    @idempotent
    def post(self, request: Request, series_name: str) -> Response:
        """Enrol recipients in the published version. The first step runs within seconds."""
        wanted = parse_body(request.data, EnrolmentRequest)
        series = find_series(request, series_name)
        people = [Person(each.user_id, each.variables) for each in wanted.enrolments]
        results = enrolments.enrol(series, people, by=actor_of(request))
        if isinstance(results, Problem):
            raise_problem(results)
        told = [_result(each, number) for number, each in enumerate(results)]
        return Response({"results": told})

    @extend_schema(
        operation_id="list_enrolments",
        summary="List enrolments of a series, newest first",
        parameters=schema.parameters(EnrolmentQuery),
        responses={200: schema.page_of(EnrolmentLine)},
        tags=["Series"],
    )
    def get(self, request: Request, series_name: str) -> Response:
        """List the enrolments of a series."""
        query = parse_query(request, EnrolmentQuery)
        rows = find_series(request, series_name).enrolments.select_related("version")
        if query.user_id is not None:
            rows = rows.filter(recipient__user_id=query.user_id)
        if query.state is not None:
            rows = rows.filter(state=query.state)
        return newest_page(request, query, rows, lambda row: EnrolmentLine(**_line(row)).to_json())


class EnrolmentDetailView(BaseView):
    """`/v1/series/{series_name}/enrolments/{enrolment_id}`: read an enrolment."""

    @extend_schema(
        operation_id="get_enrolment",
        summary="Read an enrolment",
        responses={200: EnrolmentAnswer},
        tags=["Series"],
    )
    def get(self, request: Request, series_name: str, enrolment_id: int) -> Response:
        """Return an enrolment with the results of the steps."""
        return Response(_full(_enrolment(request, series_name, enrolment_id)))


class EnrolmentExitView(BaseView):
    """`/v1/series/{series_name}/enrolments/{enrolment_id}/exit`: end an enrolment."""

    @extend_schema(
        operation_id="exit_enrolment",
        summary="End an enrolment",
        request=None,
        responses={200: EnrolmentAnswer},
        tags=["Series"],
    )
    @idempotent
    def post(self, request: Request, series_name: str, enrolment_id: int) -> Response:
        """End an enrolment before the last step. A second call changes nothing."""
        row = _enrolment(request, series_name, enrolment_id)
        rows = SeriesEnrolment.objects.filter(pk=row.pk)
        with audit.changes(actor_of(request), "exit_enrolment", rows):
            enrolments.leave(row.pk, by=actor_of(request))
        return Response(_full(_enrolment(request, series_name, enrolment_id)))


def _enrolment(request: Request, name: str, enrolment_id: int) -> SeriesEnrolment:
    rows = find_series(request, name).enrolments.select_related("version")
    found = rows.filter(pk=min(enrolment_id, MAX_ID)).first()
    if found is None:
        raise_not_found("enrolment")
    return found


def _result(result: EnrolResult, number: int) -> dict[str, Any]:
    told: dict[str, Any] = {"result": result.result.value}
    if result.enrolment_id is not None:
        told["enrolment_id"] = result.enrolment_id
    if result.problem is not None:
        told["problem"] = problems.body(result.problem, within=f"/enrolments/{number}")
    return told


def _line(row: SeriesEnrolment) -> Mapping[str, Any]:
    names = EnrolmentLine.model_fields.keys() - {"version"}
    return {"version": row.version.number, **{name: getattr(row, name) for name in names}}


def _full(row: SeriesEnrolment) -> dict[str, Any]:
    history = SeriesStepResult.objects.filter(enrolment=row).order_by("number")
    lines = [StepLine.model_validate(each) for each in history]
    return EnrolmentAnswer(**_line(row), variables=row.context, history=lines).to_json()
