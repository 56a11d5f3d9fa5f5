"""Audiences: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict


class AudienceAnswer(TypedDict):
    """A saved audience."""

    id: int
    name: str
    description: str
    audience: dict[str, Any]
    words: str
    """The expression in words."""

    created_at: str
    created_by: str
    changed_at: str
    changed_by: str


class AudienceRequest(TypedDict):
    """A saved audience."""

    name: str
    """Unique in the mode; other audiences refer to the name."""

    description: NotRequired[str]
    audience: Mapping[str, Any]
    """Audience expression, such as `{"attribute": "plan", "is": "pro"}`: `docs/audiences.md`."""


class EstimateAnswer(TypedDict):
    """The size of an audience."""

    count: int
    is_exact: bool
    error: float
    """Half of the interval that holds the true size in 95 of 100 cases, in recipients; 0: exact."""

    words: str
    """The expression in words."""


class EstimateRequest(TypedDict):
    """An audience to estimate."""

    audience: Mapping[str, Any]
    """Audience expression; see `docs/audiences.md`."""


class SnapshotAnswer(TypedDict):
    """A snapshot of an audience."""

    id: int
    name: str
    state: Literal["loading", "ready", "failed"]
    """Only a `ready` snapshot can be used in an audience."""

    state_reason: str
    members: int
    """Recipients so far."""

    audience: dict[str, Any] | None
    """The expression, with the expressions of saved audiences."""

    created_at: str
    created_by: str
    ready_at: str | None
    expires_at: str
    """The snapshot is deleted after this time."""


class SnapshotRequest(TypedDict):
    """A snapshot to take."""

    audience: Mapping[str, Any]
    """Audience expression, such as `{"audience": "adults"}`; see `docs/audiences.md`."""

    name: NotRequired[str]
    """A name for operators."""


class SubscriberFault(TypedDict):
    """A user id that was not changed."""

    pointer: str
    """JSON pointer of the user id in the request."""

    detail: str


class SubscriberLine(TypedDict):
    """A subscriber of a topic."""

    user_id: str


class SubscribersChanged(TypedDict):
    """The result of a call."""

    changed: int
    """Recipients that were subscribed or unsubscribed by the call."""

    unchanged: int
    """Recipients that were subscribed or unsubscribed before, or repeated in the call."""

    errors: list[SubscriberFault]


class SubscribersRequest(TypedDict):
    """User ids to subscribe or unsubscribe."""

    user_ids: Sequence[Any]
    """User ids of recipients. A wrong or unknown user id is an error of its own."""


class TopicAnswer(TypedDict):
    """A topic."""

    topic: str
    created_at: str
    created_by: str


class TopicSizeAnswer(TypedDict):
    """A topic with its size."""

    topic: str
    created_at: str
    created_by: str
    subscribers: int
    is_exact: bool
    """False: the number of subscribers is an estimate."""


class UploadAnswer(TypedDict):
    """An uploaded file of user ids."""

    id: int
    name: str
    state: Literal["loading", "ready", "failed"]
    """Only a `ready` upload can be used in an audience."""

    state_reason: str
    lines: int
    """Lines with content, without the first line of CSV."""

    members: int
    """Recipients, each counted once."""

    duplicates: int
    """Lines that repeat a recipient; the first line of a recipient counts."""

    unknown: int
    """Lines with an unknown user id."""

    fault_counts: dict[str, int]
    """Lines without a recipient, by kind."""

    faults: list[UploadFault]
    """The first 100 lines without a recipient."""

    created_at: str
    created_by: str
    ready_at: str | None
    expires_at: str
    """The upload is deleted after this time."""


class UploadFault(TypedDict):
    """A line without a recipient."""

    line: int
    kind: Literal["format", "user_id", "variables", "unknown"]
    detail: str


class UploadAudienceQuery(TypedDict, total=False):
    """Parameters of `upload_audience`."""

    name: str
    """A name for operators."""
