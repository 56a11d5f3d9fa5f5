"""`/v1/series/{series_name}/enrolments`: recipients in a series."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self
from uuid import UUID

from django.db.models import QuerySet
from pydantic import Field, model_validator
from rest_framework.response import Response

from notifications.core.api import problems
from notifications.core.api.examples import ANOTHER_USER, SERIES, USER, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import NumberedPageQuery
from notifications.core.api.problems import unless_refused
from notifications.core.api.resource import Resource
from notifications.core.api.schemas import ProblemDetails, RequestModel, ResponseModel
from notifications.core.rules.access import BOTH
from notifications.core.rules.request import Name, UserId, check_size
from notifications.core.rules.scopes import Scope
from notifications.features.series import enrolments
from notifications.features.series.api.series import ALL_SERIES
from notifications.features.series.enrolments import MAX_AT_ONCE, EnrolResult, Person
from notifications.features.series.models import SeriesEnrolment, SeriesStepResult
from notifications.features.series.rules.states import EnrolmentState

_ENROLMENT: Final[Mapping[str, str | int]] = {"series_name": SERIES, "enrolment_id": 57}
_NAME: Final = {"series_name": SERIES}

_READERS: Final = Access(Scope.CAMPAIGNS_READ, BOTH, "view_seriesenrolment")
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


def _line(row: SeriesEnrolment) -> Mapping[str, Any]:
    names = EnrolmentLine.model_fields.keys() - {"version"}
    return {"version": row.version.number, **{name: getattr(row, name) for name in names}}


def _to_answer(row: SeriesEnrolment) -> EnrolmentAnswer:
    history = SeriesStepResult.objects.filter(enrolment=row).order_by("number")
    lines = [StepLine.model_validate(each) for each in history]
    return EnrolmentAnswer(**_line(row), variables=row.context, history=lines)


ENROLMENTS: Final = Resource(
    noun="enrolment",
    path=f"{ALL_SERIES.path}/enrolments/<int:enrolment_id>",
    rows=lambda call: ALL_SERIES.find(call).enrolments.select_related("version"),
    answer=EnrolmentAnswer,
    to_answer=_to_answer,
    tag=ALL_SERIES.tag,
)


@operation(
    f"POST {ALL_SERIES.path}/enrolments",
    "Enrol up to 1000 recipients in a series",
    Access(Scope.CAMPAIGNS_WRITE),
    EnrolmentRequest,
    answers={200: EnrolmentResults},
    tag=ALL_SERIES.tag,
    examples={
        "minimal": Example(
            "Enrol a recipient", path=_NAME, body={"enrolments": [{"user_id": USER}]}
        ),
        "usual": Example(
            "Enrol two recipients with variables",
            path=_NAME,
            headers={"Idempotency-Key": "enrol-2026-11-23"},
            body={
                "enrolments": [
                    {"user_id": USER, "variables": {"restaurant": "Burger Palace"}},
                    {"user_id": ANOTHER_USER, "variables": {"restaurant": "Pasta Bar"}},
                ]
            },
        ),
    },
)
def create_enrolments(call: Call, wanted: EnrolmentRequest) -> Response:
    """Enrol recipients in the published version. The first step runs within seconds."""
    people = [Person(each.user_id, each.variables) for each in wanted.enrolments]
    results = unless_refused(enrolments.enrol(ALL_SERIES.find(call), people, by=call.by))
    return Response({"results": [_result(each, number) for number, each in enumerate(results)]})


@ENROLMENTS.list(
    "List enrolments of a series, newest first",
    _READERS,
    EnrolmentQuery,
    line=EnrolmentLine,
    to_lines=lambda rows: [EnrolmentLine(**_line(row)) for row in rows],
    examples={
        "minimal": Example("The latest enrolments", path=_NAME),
        "usual": Example(
            "The running enrolments of a recipient",
            path=_NAME,
            query={"user_id": USER, "state": "running", "limit": 10},
        ),
    },
)
def list_enrolments(call: Call, query: EnrolmentQuery) -> QuerySet[SeriesEnrolment]:
    """List the enrolments of a series."""
    rows = ENROLMENTS.rows(call)
    if query.user_id is not None:
        rows = rows.filter(recipient__user_id=query.user_id)
    return rows if query.state is None else rows.filter(state=query.state)


@ENROLMENTS.read(
    "Read an enrolment",
    _READERS,
    examples={
        "minimal": Example("An enrolment", path=_ENROLMENT),
        "usual": Example("The history of an enrolment", path=_ENROLMENT),
    },
)
def get_enrolment(_call: Call, enrolment: SeriesEnrolment) -> SeriesEnrolment:
    """Return an enrolment with the results of the steps."""
    return enrolment


@ENROLMENTS.change(
    "POST /exit",
    "End an enrolment",
    Access(Scope.CAMPAIGNS_WRITE, BOTH, "change_seriesenrolment"),
    examples={
        "minimal": Example("End an enrolment", path=_ENROLMENT),
        "usual": Example(
            "With an idempotency key", path=_ENROLMENT, headers={"Idempotency-Key": "exit-57"}
        ),
    },
)
def exit_enrolment(call: Call, enrolment: SeriesEnrolment) -> None:
    """End an enrolment before the last step. A second call changes nothing."""
    enrolments.leave(enrolment.pk, by=call.by)


def _result(result: EnrolResult, number: int) -> dict[str, Any]:
    told: dict[str, Any] = {"result": result.result.value}
    if result.enrolment_id is not None:
        told["enrolment_id"] = result.enrolment_id
    if result.problem is not None:
        told["problem"] = problems.body(result.problem, within=f"/enrolments/{number}")
    return told
