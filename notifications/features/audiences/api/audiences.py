"""`/v1/audiences`: saved audience expressions, and the size of an audience."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Final

from django.db.models import QuerySet
from pydantic import Field

from notifications.core.api.examples import USER, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import NumberedPageQuery
from notifications.core.api.problems import raise_problem
from notifications.core.api.resource import Resource
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.clock import monotonic
from notifications.core.models import Audience
from notifications.core.rules.access import BOTH
from notifications.core.rules.problems import Kind
from notifications.core.rules.request import Text
from notifications.core.rules.scopes import Scope
from notifications.features.audiences import expressions
from notifications.features.audiences.rows import estimates
from notifications.features.audiences.rules import parse, wording
from notifications.features.audiences.rules.faults import ExpressionError

_TOPIC: Final = {"topic": "artist-17"}
_PRO: Final = {"attribute": "plan", "is": "pro"}
_QUIET: Final = {"not": {"received": {"type": "WEEKLY_NEWS", "within_days": 7}}}
_AUDIENCE: Final = {"audience_id": 171}

_PAID_BY: Final = dt.timedelta(milliseconds=50)
"""Time of an estimate that costs as much as a write, on top of the basic cost of 1."""
_READERS: Final = Access(Scope.CAMPAIGNS_READ, BOTH, "view_recipient")


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


def _to_answer(row: Audience) -> AudienceAnswer:
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
    )


AUDIENCES: Final = Resource(
    noun="audience",
    path="v1/audiences/<int:audience_id>",
    rows=lambda call: Audience.objects.filter(mode=call.key.mode),
    answer=AudienceAnswer,
    to_answer=_to_answer,
    tag="Audiences",
)


@AUDIENCES.list(
    "List saved audiences, newest first",
    _READERS,
    NumberedPageQuery,
    examples={
        "minimal": Example("The latest audiences"),
        "usual": Example("Ten audiences", query={"limit": 10}),
    },
)
def list_audiences(call: Call, _query: NumberedPageQuery) -> QuerySet[Audience]:
    """List the saved audiences of the key's mode."""
    return AUDIENCES.rows(call)


@AUDIENCES.create(
    "Save an audience",
    Access(Scope.CAMPAIGNS_WRITE),
    AudienceRequest,
    examples={
        "minimal": Example(
            "Recipients with an attribute", body={"name": "Pro customers", "audience": _PRO}
        ),
        "usual": Example(
            "Pro customers who got no news in the last week",
            headers={"Idempotency-Key": "audience-17"},
            body={
                "name": "Pro without news",
                "description": "For the news of the week.",
                "audience": {"and": [_PRO, {"reachable": "email"}, _QUIET]},
            },
        ),
    },
)
def create_audience(call: Call, wanted: AudienceRequest) -> Audience:
    """Save an audience expression under a name; other expressions use `{"audience": name}`."""
    return _save(call, Audience(mode=call.key.mode, created_by=call.by), wanted)


@AUDIENCES.read(
    "Read a saved audience",
    _READERS,
    examples={
        "minimal": Example("A saved audience", path=_AUDIENCE),
        "usual": Example("Another saved audience", path={"audience_id": 174}),
    },
)
def get_audience(_call: Call, audience: Audience) -> Audience:
    """Return a saved audience."""
    return audience


@AUDIENCES.change(
    "PUT",
    "Replace a saved audience",
    Access(Scope.CAMPAIGNS_WRITE),
    AudienceRequest,
    locks=True,
    problems={Kind.CONFLICT},
    examples={
        "minimal": Example(
            "Another expression",
            path=_AUDIENCE,
            body={"name": "Customers", "audience": {"everyone": True}},
        ),
        "usual": Example(
            "The subscribers of a topic without one recipient",
            path=_AUDIENCE,
            body={
                "name": "Fans",
                "description": "Fans of the artist 17.",
                "audience": {"and": [_TOPIC, {"not": {"user_ids": [USER]}}]},
            },
        ),
    },
)
def put_audience(call: Call, audience: Audience, wanted: AudienceRequest) -> None:
    """Replace name, description and expression.

    Audiences with the name use the new expression. The name of an audience that others use
    cannot change.
    """
    _save(call, audience, wanted)


@AUDIENCES.change(
    "DELETE",
    "Delete a saved audience",
    Access(Scope.CAMPAIGNS_WRITE),
    answers={204: None},
    problems={Kind.CONFLICT},
    examples={
        "minimal": Example("Delete an audience", path=_AUDIENCE),
        "usual": Example("Delete another", path={"audience_id": 174}),
    },
)
def delete_audience(_call: Call, audience: Audience) -> None:
    """Delete a saved audience, unless another saved audience uses the name."""
    expressions.delete(audience)


@operation(
    "POST v1/audiences/estimate",
    "Estimate the size of an audience",
    _READERS,
    EstimateRequest,
    answers={200: EstimateAnswer},
    tag=AUDIENCES.tag,
    examples={
        "minimal": Example("All recipients", body={"audience": {"everyone": True}}),
        "usual": Example(
            "Three conditions",
            body={"audience": {"and": [_PRO, {"attribute": "locale", "is": "pt"}, _QUIET]}},
        ),
    },
)
def estimate_audience(call: Call, wanted: EstimateRequest) -> EstimateAnswer:
    """Return the number of recipients, within a second: exact, or from a sample."""
    started = monotonic()
    try:
        expression = expressions.check(wanted.audience, mode=call.key.mode)
        found = estimates.estimate(expression, mode=call.key.mode)
    except ExpressionError as error:
        raise_problem(error.problem(within="/audience"))
    finally:
        call.charge(dt.timedelta(seconds=monotonic() - started) // _PAID_BY)
    return EstimateAnswer(
        count=found.count,
        is_exact=found.is_exact,
        error=round(found.error, 1),
        words=wording.describe(expression),
    )


def _save(call: Call, row: Audience, wanted: AudienceRequest) -> Audience:
    row.name, row.description = wanted.name, wanted.description
    try:
        return expressions.save(row, wanted.audience, by=call.by)
    except ExpressionError as error:
        raise_problem(error.problem(within="/audience"))
