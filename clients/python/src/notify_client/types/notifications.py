"""Notifications: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict
from uuid import UUID

from notify_client.types.shared import (
    Channel,
    Mode,
    NotificationRequest,
    Priority,
    Status,
)


class AttemptDetail(TypedDict):
    """One provider call."""

    number: int
    provider: str
    outcome: str
    code: str
    detail: str
    started_at: str
    latency_ms: int
    segments: int | None
    """Of an SMS: how many it takes by our count. The provider bills by its own."""

    http_status: int | None
    """Of the provider's answer; null where no HTTP answer came."""

    retry_after_s: int | None
    """Seconds that the provider asked to wait; null where it did not."""

    signed_with: str
    """Web Push: the public VAPID key of the call; empty elsewhere."""


class BatchAccepted(TypedDict):
    """One result for each item, in order; look at `summary.rejected`."""

    results: list[BatchResult]
    summary: BatchSummary


class BatchRequest(TypedDict):
    """Up to a thousand notifications; each is accepted or rejected by itself."""

    notifications: Sequence[NotificationRequest]


class BatchResult(TypedDict):
    """What became of one item of a batch."""

    result: Literal["accepted", "duplicate", "rejected"]
    notification: NotRequired[NotificationAccepted | None]
    """Accepted: its answer. Duplicate: the answer that the first one had."""

    problem: NotRequired[ProblemDetails | None]
    """Rejected: why."""


class BatchSummary(TypedDict):
    """How many items had each result."""

    accepted: int
    duplicate: int
    rejected: int


class DeliveryBrief(TypedDict):
    """A delivery in one line."""

    delivery_id: str
    channel: Channel
    status: Status


class DeliveryDetail(TypedDict):
    """A delivery with its provider calls."""

    delivery_id: str
    channel: Channel
    status: Status
    reason: str
    provider: str
    provider_message_id: str
    due_at: str | None
    sent_at: str | None
    delivered_at: str | None
    attempts: list[AttemptDetail]


class EventLine(TypedDict):
    """One line of the timeline."""

    seq: int
    at: str
    delivery_id: str | None
    status: Status | None
    reason: str
    detail: str


class FieldProblem(TypedDict):
    """One place of the request and what is wrong there."""

    source: Literal["body", "query", "header"]
    """The part of the request."""

    pointer: str
    """RFC 6901 JSON pointer into that part; empty for the whole of it."""

    detail: str


class FoundRecipient(TypedDict):
    """Who has the addresses of `to`."""

    user_id: str
    registered: bool
    """True: registered by this request."""


class NotificationAccepted(TypedDict):
    """It is stored, and survives a crash of every process."""

    notification_id: str
    status: Status
    priority: Priority
    deliveries: list[DeliveryBrief]
    created_at: str
    scheduled_at: NotRequired[str | None]
    """When it will leave; absent where no time was asked for."""

    timezone: NotRequired[str | None]
    """By which `send_at_local` was read; absent where it was not asked for."""

    timezone_known: NotRequired[bool | None]
    """False: nobody knows the recipient's, and it was read as UTC."""

    skipped: NotRequired[list[SkippedChannel] | None]
    """With `delivery: first`, the other channels that were asked for or tried; absent: none."""

    warnings: NotRequired[list[RequestWarning] | None]
    """What to look at; absent: nothing."""

    recipient: NotRequired[FoundRecipient | None]
    """Of a request with `to`; absent otherwise."""


class NotificationCancelled(TypedDict):
    """What was stopped, and where everything stands now: what is not stopped had left."""

    notification_id: str
    status: Status
    stopped: list[str]
    deliveries: list[DeliveryBrief]


class NotificationDetail(TypedDict):
    """A notification and all that became of it."""

    notification_id: str
    user_id: str
    type: str
    category: str
    priority: Priority
    mode: Mode
    status: Status
    template_id: str | None
    template_version: int | None
    variables: dict[str, Any]
    """Sensitive ones are masked."""

    content: dict[str, Any] | None
    channels: list[Channel]
    delivery: str
    collapse_key: str
    ordering_key: str
    idempotency_key: str
    metadata: dict[str, Any]
    created_at: str
    scheduled_at: str | None
    timezone: str | None
    """By which `send_at_local` was read; null where it was not asked for."""

    timezone_known: bool | None
    """False: nobody knew the recipient's, and it was read as UTC."""

    expires_at: str
    cancelled_at: str | None
    deliveries: list[DeliveryDetail]
    timeline: list[EventLine]


class NotificationLine(TypedDict):
    """A notification in a list."""

    notification_id: str
    user_id: str
    type: str
    priority: Priority
    status: Status
    created_at: str
    scheduled_at: str | None
    deliveries: list[DeliveryBrief]


class RescheduleRequest(TypedDict):
    """Another time: exactly one of the two."""

    scheduled_at: NotRequired[str | datetime | None]
    send_at_local: NotRequired[str | None]


class ProblemDetails(TypedDict):
    """RFC 9457 problem details."""

    type: str
    """`urn:notify:problem:` and the code: the same in every installation."""

    code: Literal[
        "malformed",
        "unauthenticated",
        "forbidden",
        "not-found",
        "method-not-allowed",
        "not-acceptable",
        "in-progress",
        "conflict",
        "precondition-failed",
        "too-large",
        "unsupported-media-type",
        "invalid",
        "unknown-recipient",
        "idempotency-key-reused",
        "rate-limited",
        "unavailable",
        "internal-error",
    ]
    """What a client switches on. Later versions of the service may know further codes."""

    title: str
    status: int
    detail: str
    """For people; the words can change."""

    help: NotRequired[str | None]
    """The URL of a page that says what to do."""

    instance: NotRequired[str | None]
    """The id of the request in the service's logs: `X-Request-Id`."""

    errors: NotRequired[list[FieldProblem]]
    """At most a hundred."""


class RequestWarning(TypedDict):
    """What was accepted and does perhaps not mean what it says."""

    pointer: str
    """RFC 6901 JSON pointer into the request's body."""

    detail: str


class SkippedChannel(TypedDict):
    """A channel that `delivery: first` does not use."""

    channel: Channel
    reason: str
    """`not_needed`: an earlier channel is used. Otherwise the reason for which it cannot be."""


class ListNotificationsQuery(TypedDict, total=False):
    """What `list_notifications` is asked for."""

    cursor: str | UUID
    """`next` of the page before."""

    limit: int
    """Most results of one page. Default: `50`."""

    metadata: Sequence[str]
    """`order_id:ORD-1`: notifications whose metadata has this text under this name. Of several
    pairs the metadata has each."""

    since: str | datetime
    """Notifications that were accepted at this instant or later."""

    status: Sequence[Status]
    """Notifications with a delivery in any of these states."""

    type: Sequence[str]
    """Notifications of any of these types."""

    user_id: str
    """Notifications to this recipient."""
