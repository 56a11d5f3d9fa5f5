"""Series: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

from notify_client.types.shared import (
    ProblemDetails,
)


class CustomEventRequest(TypedDict):
    """An event of a recipient."""

    name: str
    """Name of the event, such as `order_paid`."""

    user_id: str
    properties: NotRequired[Mapping[str, Any]]
    """An object of at most 4 KiB. A series uses the values as variables and in conditions."""

    occurred_at: NotRequired[str | datetime | None]
    """Omitted: now.

    At most 7 days ago and 5 minutes ahead. Series act by the time at which the service stores
    the event.
    """

    idempotency_key: NotRequired[str | None]
    """A second event with the key of a stored event is a duplicate, as long as events are kept."""


class EnrolmentAnswer(TypedDict):
    """An enrolment with the results of the steps."""

    id: int
    user_id: str
    version: int
    state: Literal["running", "finished", "exited"]
    exit_reason: str
    position: str
    """JSON pointer of the present step; empty after the last step."""

    due_at: str | None
    """End of the present wait; null: the enrolment has ended."""

    problem: str
    """Reason of a delay; empty without a delay."""

    enrolled_at: str
    ended_at: str | None
    variables: dict[str, Any]
    history: list[StepLine]


class EnrolmentItem(TypedDict):
    """A recipient to enrol."""

    user_id: str
    variables: NotRequired[Mapping[str, Any]]
    """Variables of the messages, at most 16 KiB."""


class EnrolmentLine(TypedDict):
    """An enrolment in a list."""

    id: int
    user_id: str
    version: int
    state: Literal["running", "finished", "exited"]
    exit_reason: str
    position: str
    """JSON pointer of the present step; empty after the last step."""

    due_at: str | None
    """End of the present wait; null: the enrolment has ended."""

    problem: str
    """Reason of a delay; empty without a delay."""

    enrolled_at: str
    ended_at: str | None


class EnrolmentRequest(TypedDict):
    """Up to 1000 recipients."""

    enrolments: Sequence[EnrolmentItem]


class EnrolmentResult(TypedDict):
    """The result for a recipient."""

    result: Literal["enrolled", "unchanged", "rejected"]
    """`unchanged`: the recipient is in the series, or was before and `reentry` is `never`."""

    enrolment_id: NotRequired[int | None]
    """Id of a new enrolment."""

    problem: NotRequired[ProblemDetails | None]


class EnrolmentResults(TypedDict):
    """A result for every recipient, in order."""

    results: list[EnrolmentResult]


class EventResult(TypedDict):
    """The result of an event."""

    result: Literal["accepted", "duplicate", "rejected"]
    problem: NotRequired[ProblemDetails | None]
    """Rejected: the problem."""


class EventResults(TypedDict):
    """A result for every event, in order."""

    results: list[EventResult]


class EventsRequest(TypedDict):
    """Up to 1000 events. Every event is accepted or rejected separately."""

    events: Sequence[CustomEventRequest]


class SeriesAnswer(TypedDict):
    """A series with its versions and the number of enrolments."""

    name: str
    state: Literal["draft", "active", "paused", "archived"]
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

    created_at: str
    updated_at: str


class SeriesDraft(TypedDict):
    """The content of the next version."""

    definition: Mapping[str, Any]
    """Trigger, goal and steps, as in `docs/series.md`."""


class SeriesRequest(TypedDict):
    """A new series."""

    name: str
    """Unique per producer."""

    definition: Mapping[str, Any]
    """Trigger, goal and steps, as in `docs/series.md`."""


class StepLine(TypedDict):
    """The result of a step."""

    position: str
    """JSON pointer of the step in the definition."""

    outcome: str
    notification_id: str | None
    detail: str
    at: str


class ListEnrolmentsQuery(TypedDict, total=False):
    """Parameters of `list_enrolments`."""

    cursor: int
    """The value of `next` on the previous page."""

    limit: int
    """Maximum number of results per page. Default: `50`."""

    state: Literal["running", "finished", "exited"]
    """Enrolments in this state."""

    user_id: str
    """Enrolments of this recipient."""
