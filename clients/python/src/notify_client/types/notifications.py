"""Notifications: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict
from uuid import UUID

from notify_client.types.shared import (
    AttachedFile,
    Channel,
    Mode,
    NotificationRequest,
    Priority,
    ProblemDetails,
    RequestWarning,
    Status,
)


class AttemptDetail(TypedDict):
    """A provider call."""

    number: int
    provider: str
    outcome: str
    code: str
    detail: str
    started_at: str
    latency_ms: int
    segments: int | None
    """Segments of an SMS by the provider's count, or by the service's count if the provider told
    none.
    """

    cost_usd: float | None
    """Cost of an accepted call in US dollars; null for another outcome without a price by the
    provider, and on a free channel.
    """

    cost_basis: Literal["estimated", "settled"] | None
    """`estimated`: by the price list; `settled`: by the provider's receipt. Null without a cost."""

    http_status: int | None
    """HTTP status of the provider's response; null without an HTTP response."""

    retry_after_s: int | None
    """Wait requested by the provider, in seconds; null without a request."""

    signed_with: str
    """Web Push: the public VAPID key of the call; empty on other channels."""

    country: str | None
    """Country of the phone number of an SMS (ISO 3166-1 alpha-2); on other channels a guess by
    the recipient's timezone, else by the locale. Null: unknown.
    """


class BatchAccepted(TypedDict):
    """A result for every item, in order; check `summary.rejected`."""

    results: list[BatchResult]
    summary: BatchSummary


class BatchRequest(TypedDict):
    """Up to 1000 notifications. Every item is accepted or rejected separately."""

    notifications: Sequence[NotificationRequest]


class BatchResult(TypedDict):
    """The result of an item of a batch."""

    result: Literal["accepted", "duplicate", "rejected"]
    notification: NotRequired[NotificationAccepted | None]
    """Accepted: the response for the item. Duplicate: the response of the first call."""

    problem: NotRequired[ProblemDetails | None]
    """Rejected: the problem."""


class BatchSummary(TypedDict):
    """The number of items by result."""

    accepted: int
    duplicate: int
    rejected: int


class DeliveryBrief(TypedDict):
    """A delivery in short form."""

    delivery_id: str
    channel: Channel
    status: Status


class DeliveryDetail(TypedDict):
    """A delivery with all provider calls."""

    delivery_id: str
    channel: Channel
    status: Status
    reason: str
    provider: str
    provider_message_id: str
    due_at: str | None
    sent_at: str | None
    delivered_at: str | None
    stages: list[StageLine]
    """The stages that the delivery has reached, in order."""

    attempts: list[AttemptDetail]


class DeliveryWithdrawn(TypedDict):
    """A delivery and the state of its withdrawal."""

    delivery_id: str
    channel: Channel
    status: Status
    withdrawal: Literal["withdrawing", "withdrawn", "not_sent", "replaced", "unsupported"]
    """`withdrawing`: the device is told to remove the message.

    `withdrawn`: the provider accepted the removal before. `not_sent`: the message does not
    leave. `replaced`: a later message with the same collapse key has replaced the message.
    `unsupported`: the channel or the provider cannot remove a message, such as an SMS or an
    e-mail.
    """

    detail: str
    """The state as a sentence."""


class EventLine(TypedDict):
    """An event of the timeline."""

    seq: int
    """Gives the order. An event with the status `sending` has the number of the event beside it."""

    at: str
    delivery_id: str | None
    status: Status | None
    reason: str
    detail: str
    occurred_at: str | None
    """Receipts: the time given by the provider or the app, unchecked.

    `at` is the time at which the service stored the receipt.
    """


class FoundRecipient(TypedDict):
    """The recipient found or registered by the addresses in `to`."""

    user_id: str
    registered: bool
    """True: registered by this request."""


class NotificationAccepted(TypedDict):
    """The notification is stored durably."""

    notification_id: str
    status: Status
    priority: Priority
    deliveries: list[DeliveryBrief]
    created_at: str
    scheduled_at: NotRequired[str | None]
    """Planned time of sending; absent without a requested time."""

    timezone: NotRequired[str | None]
    """Timezone used for `send_at_local`; absent without `send_at_local`."""

    timezone_known: NotRequired[bool | None]
    """False: the recipient has no timezone, so UTC was used."""

    skipped: NotRequired[list[SkippedChannel] | None]
    """With `delivery: first`, the requested or tried channels which are not used; absent: none."""

    warnings: NotRequired[list[RequestWarning] | None]
    """Probable mistakes in the request; absent: none."""

    recipient: NotRequired[FoundRecipient | None]
    """Present only for a request with `to`."""


class NotificationCancelled(TypedDict):
    """The stopped deliveries, and the current status of all deliveries.

    A delivery missing from `stopped` and `in_flight` had already been sent or finished.
    """

    notification_id: str
    status: Status
    stopped: list[str]
    in_flight: list[str]
    """Deliveries in the hands of a worker, whose provider call may have begun: the message may
    still arrive, and a webhook has the result.
    """

    deliveries: list[DeliveryBrief]


class NotificationDetail(TypedDict):
    """A notification with deliveries, attempts and timeline."""

    notification_id: str
    user_id: str
    type: str
    category: str
    priority: Priority
    mode: Mode
    status: Status
    template_id: str | None
    template_version: int | None
    template_variant: str | None
    """Variant of the template's texts, of a bulk job; null: the base texts."""

    variables: dict[str, Any]
    """Values of sensitive variables are masked."""

    content: dict[str, Any] | None
    attachments: list[AttachedFile]
    """Of the e-mail: those of the request, then those of the template."""

    channels: list[Channel]
    delivery: str
    fallback_chain: bool
    collapse_key: str
    ordering_key: str
    idempotency_key: str
    metadata: dict[str, Any]
    created_at: str
    scheduled_at: str | None
    timezone: str | None
    """Timezone used for `send_at_local`; null without `send_at_local`."""

    timezone_known: bool | None
    """False: the recipient had no timezone, so UTC was used."""

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


class NotificationWithdrawn(TypedDict):
    """The notification is cancelled; the state of the withdrawal of each delivery."""

    notification_id: str
    status: Status
    deliveries: list[DeliveryWithdrawn]


class RescheduleRequest(TypedDict):
    """The new time: exactly one of `scheduled_at` and `send_at_local`."""

    scheduled_at: NotRequired[str | datetime | None]
    send_at_local: NotRequired[str | None]


class SkippedChannel(TypedDict):
    """A channel which `delivery: first` does not use."""

    channel: Channel
    reason: str
    """`not_needed`: an earlier channel is used.

    Otherwise the reason for which the channel is unusable.
    """


class StageLine(TypedDict):
    """A stage of a delivery, with the time since the request was accepted."""

    stage: Literal["accepted", "called", "sent", "delivered", "read"]
    at: str
    seconds_since_accept: float
    source: Literal["service", "receipt"]
    """Clock of `at`: `receipt` is the time given in the receipt, used if the time is possible."""


class StatusChangeLine(TypedDict):
    """A change of the status of a delivery."""

    notification_id: str
    delivery_id: str | None
    user_id: str
    type: str
    channel: Channel | None
    status: Status
    reason: str
    occurred_at: str
    metadata: dict[str, Any]


class StatusChanges(TypedDict):
    """A page of changes in the order in which the service stored them."""

    results: list[StatusChangeLine]
    next: str
    """The cursor after this page, on an empty page too: keep it and ask with it again."""


class ListNotificationsQuery(TypedDict, total=False):
    """Parameters of `list_notifications`."""

    cursor: str | UUID
    """The value of `next` on the previous page."""

    limit: int
    """Maximum number of results per page. Default: `50`."""

    metadata: Sequence[str]
    """`order_id:ORD-1`: notifications whose metadata has the value `ORD-1` under `order_id`.

    Several pairs must all match.
    """

    since: str | datetime
    """Notifications accepted at or after this instant."""

    status: Sequence[Status]
    """Notifications with a delivery in any of these statuses."""

    type: Sequence[str]
    """Notifications of any of these types."""

    user_id: str
    """Notifications to this recipient."""


class ListStatusChangesQuery(TypedDict, total=False):
    """Parameters of `list_status_changes`."""

    cursor: str
    """The value of `next` on the previous page."""

    limit: int
    """Maximum number of results per page. Default: `100`."""

    since: str | datetime
    """Begin with changes at or after this instant.

    Ignored with a `cursor`. Without both, the page begins at the oldest change that is kept.
    """
