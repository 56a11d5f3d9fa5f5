"""`/v1/series`: several messages to a recipient over days."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final, TypeVar

from django.db.models import QuerySet

from notifications.core.api.examples import SERIES, TEMPLATE, Example
from notifications.core.api.operation import Access, Call
from notifications.core.api.pagination import NumberedPageQuery
from notifications.core.api.problems import unless_refused
from notifications.core.api.resource import Resource
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.rules.access import BOTH
from notifications.core.rules.problems import FieldError, Problem
from notifications.core.rules.request import Name
from notifications.core.rules.scopes import Scope
from notifications.features.series import figures, versions
from notifications.features.series.models import Series
from notifications.features.series.rules.states import SeriesState

_NAME: Final = {"series_name": SERIES}
_REMINDER: Final = {
    "step": "send",
    "name": "reminder",
    "type": "ORDER_READY",
    "template_id": TEMPLATE,
}
_WAIT: Final = {
    "step": "wait",
    "hours": 20,
    "until_local": "09:00",
    "until_event": {"event": "order_paid"},
}

Made = TypeVar("Made")

_READERS: Final = Access(Scope.CAMPAIGNS_READ, BOTH, "view_series")
_CHANGERS: Final = Access(Scope.CAMPAIGNS_WRITE, BOTH, "change_series")


class SeriesRequest(RequestModel):
    """A new series."""

    name: Name
    """Unique per producer."""
    definition: dict[str, Any]
    """Trigger, goal and steps, as in `docs/series.md`."""


class SeriesDraft(RequestModel):
    """The content of the next version."""

    definition: dict[str, Any]
    """Trigger, goal and steps, as in `docs/series.md`."""


class SeriesAnswer(ResponseModel):
    """A series with its versions and the number of enrolments."""

    name: str
    state: SeriesState
    version: int | None
    """Number of the published version, which new enrolments take; null: not published."""
    definition: dict[str, Any] | None
    """Content of the published version."""
    draft: dict[str, Any] | None
    """Content of the next version; null: no draft."""
    enrolments: dict[str, int]
    """Enrolments by state."""
    steps: dict[str, int]
    """Running enrolments by the position of the step."""
    created_at: dt.datetime
    updated_at: dt.datetime


def _own(call: Call) -> QuerySet[Series]:
    own = Series.objects.filter(producer_id=call.key.producer_id, mode=call.key.mode)
    return own.select_related("current")


def _to_answer(series: Series) -> SeriesAnswer:
    counts = figures.of_series([series.pk])[series.pk]
    draft = series.versions.filter(published_at=None).first()
    return SeriesAnswer(
        name=series.name,
        state=SeriesState(series.state),
        version=series.current.number if series.current else None,
        definition=versions.content_of(series.current),
        draft=versions.content_of(draft),
        enrolments=dict(counts.by_state),
        steps=dict(counts.by_step),
        created_at=series.created_at,
        updated_at=series.updated_at,
    )


ALL_SERIES: Final = Resource(
    noun="series",
    path="v1/series/<str:series_name>",
    key="name",
    rows=_own,
    answer=SeriesAnswer,
    to_answer=_to_answer,
    tag="Series",
)


@ALL_SERIES.create(
    "Create a series",
    Access(Scope.CAMPAIGNS_WRITE),
    SeriesRequest,
    examples={
        "minimal": Example(
            "One message after a day",
            body={
                "name": "hello",
                "definition": {"steps": [{"step": "wait", "days": 1}, _REMINDER]},
            },
        ),
        "usual": Example(
            "A reminder of an abandoned cart, unless the order is paid",
            headers={"Idempotency-Key": "series-abandoned-cart"},
            body={
                "name": "abandoned-cart",
                "definition": {
                    "description": "Reminds of a cart at nine in the morning.",
                    "trigger": {"event": "cart_left", "where": {"country": "DE"}},
                    "reentry": "after_exit",
                    "goal": {"event": "order_paid"},
                    "steps": [
                        _WAIT,
                        _REMINDER,
                        {"step": "wait", "days": 2},
                        {
                            "step": "condition",
                            "if": {"message": "reminder", "status": "read"},
                            "then": [{**_REMINDER, "name": "last-call", "channels": ["sms"]}],
                            "else": [{"step": "exit", "reason": "not interested"}],
                        },
                    ],
                },
            },
        ),
    },
)
def create_series(call: Call, wanted: SeriesRequest) -> Series:
    """Create a series with a draft. The series takes enrolments after the publication."""
    made = versions.create(call.caller, wanted.name, wanted.definition)
    return unless_refused(_within(made))


@ALL_SERIES.list(
    "List series, newest first",
    _READERS,
    NumberedPageQuery,
    examples={
        "minimal": Example("The latest series"),
        "usual": Example("Ten series after a cursor", query={"limit": 10, "cursor": 4711}),
    },
)
def list_series(call: Call, _query: NumberedPageQuery) -> QuerySet[Series]:
    """List the series of the key's producer and mode."""
    return _own(call)


@ALL_SERIES.read(
    "Read a series",
    _READERS,
    examples={
        "minimal": Example("A series", path=_NAME),
        "usual": Example("The enrolments by step", path=_NAME),
    },
)
def get_series(_call: Call, series: Series) -> Series:
    """Return a series with the published version, the draft and the enrolments by step."""
    return series


@ALL_SERIES.change(
    "PUT",
    "Replace the draft of a series",
    _CHANGERS,
    SeriesDraft,
    examples={
        "minimal": Example(
            "Replace the draft", path=_NAME, body={"definition": {"steps": [_WAIT, _REMINDER]}}
        ),
        "usual": Example(
            "A draft with a trigger",
            path=_NAME,
            body={
                "definition": {
                    "trigger": {"event": "cart_left"},
                    "reentry": "after_exit",
                    "steps": [_WAIT, _REMINDER],
                }
            },
        ),
    },
)
def change_series(call: Call, series: Series, wanted: SeriesDraft) -> None:
    """Replace the draft of a series, or begin a draft. Running enrolments do not change."""
    with call.changes(series.versions.filter(published_at=None)) as made:
        made.append(unless_refused(_within(versions.save_draft(series, wanted.definition))))


@ALL_SERIES.change(
    "POST /publish",
    "Publish the draft of a series",
    _CHANGERS,
    examples={
        "minimal": Example("Publish the draft", path=_NAME),
        "usual": Example(
            "With an idempotency key",
            path=_NAME,
            headers={"Idempotency-Key": "publish-cart-reminder-2"},
        ),
    },
)
def publish_series(call: Call, series: Series) -> None:
    """Publish the draft. New enrolments take the version; running enrolments keep theirs."""
    unless_refused(_within(versions.publish(call.caller, series, by=call.by)))


@ALL_SERIES.change(
    "POST /pause",
    "Pause a series",
    _CHANGERS,
    examples={
        "minimal": Example("Pause a series", path=_NAME),
        "usual": Example(
            "With an idempotency key",
            path=_NAME,
            headers={"Idempotency-Key": "pause-cart-reminder"},
        ),
    },
)
def pause_series(call: Call, series: Series) -> None:
    """Pause a series: due steps wait. Messages that were accepted before are still sent."""
    unless_refused(versions.change_state(series, SeriesState.PAUSED, by=call.by))


@ALL_SERIES.change(
    "POST /resume",
    "Resume a series",
    _CHANGERS,
    examples={
        "minimal": Example("Resume a series", path=_NAME),
        "usual": Example(
            "With an idempotency key",
            path=_NAME,
            headers={"Idempotency-Key": "resume-cart-reminder"},
        ),
    },
)
def resume_series(call: Call, series: Series) -> None:
    """Resume a paused series: steps that came due during the pause run now."""
    unless_refused(versions.change_state(series, SeriesState.ACTIVE, by=call.by))


@ALL_SERIES.change(
    "POST /archive",
    "Archive a series",
    _CHANGERS,
    examples={
        "minimal": Example("Archive a series", path=_NAME),
        "usual": Example(
            "With an idempotency key",
            path=_NAME,
            headers={"Idempotency-Key": "archive-cart-reminder"},
        ),
    },
)
def archive_series(call: Call, series: Series) -> None:
    """End a series for good: all enrolments exit, and the series takes no more."""
    unless_refused(versions.change_state(series, SeriesState.ARCHIVED, by=call.by))


def _within(made: Made | Problem) -> Made | Problem:
    """Return the result, or the problem of a definition with pointers into the body."""
    if not isinstance(made, Problem):
        return made
    problem, prefix = made, "/definition"
    errors = tuple(
        error if error.pointer == "/name" else FieldError(prefix + error.pointer, error.detail)
        for error in problem.errors
    )
    detail = problem.detail
    if errors and errors[0].pointer.startswith(prefix):
        detail = f"{errors[0].pointer}: {errors[0].detail}"
    return Problem(problem.kind, detail, errors)
