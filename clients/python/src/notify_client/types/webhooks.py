"""Webhooks: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

from notify_client.types.shared import (
    Channel,
)


class BulkJobEvent(TypedDict):
    """A bulk job was created, started, paused, resumed, finished, cancelled or aborted."""

    type: Literal[
        "bulk_job.created",
        "bulk_job.started",
        "bulk_job.paused",
        "bulk_job.resumed",
        "bulk_job.finished",
        "bulk_job.cancelled",
        "bulk_job.aborted",
    ]
    timestamp: str
    data: BulkJobEventData


class BulkJobEventData(TypedDict):
    """A bulk job that changed."""

    bulk_job_id: str
    name: str
    reason: str
    """Reason of the change, for people; often empty."""

    metadata: dict[str, Any]
    progress: BulkJobEventProgress
    occurred_at: str


class BulkJobEventProgress(TypedDict):
    """The progress of a bulk job at the time of the call."""

    examined: int
    """Recipients who got a notification or were left out."""

    accepted: int
    """Notifications."""

    left_out: dict[str, int]
    """Reason -> recipients without a notification."""


class ContactEvent(TypedDict):
    """A contact became invalid."""

    type: str
    timestamp: str
    data: ContactEventData


class ContactEventData(TypedDict):
    """A contact whose address a provider reported as dead."""

    contact_id: int
    user_id: str
    channel: Channel
    reason: str
    message: str
    occurred_at: str


class NotificationEvent(TypedDict):
    """A status change, or the press of a button of an in-app message."""

    type: Literal[
        "notification.accepted",
        "notification.sent",
        "notification.delivered",
        "notification.read",
        "notification.failed",
        "notification.expired",
        "notification.suppressed",
        "notification.cancelled",
        "inbox.action",
    ]
    timestamp: str
    data: NotificationEventData


class NotificationEventData(TypedDict):
    """A status change of a notification or a delivery."""

    producer: str
    """The name of the producer that sent the notification."""

    notification_id: str
    delivery_id: str | None
    action_id: NotRequired[str]
    """`inbox.action`: the `id` of the pressed button."""

    user_id: str
    channel: Channel | None
    provider: str | None
    status: str
    reason: str
    message: str
    """The reason as a sentence."""

    metadata: dict[str, Any]
    occurred_at: str
    request_id: str | None


class WebhookEndpointChange(TypedDict):
    """Changes of an endpoint; omitted fields stay."""

    url: NotRequired[str | None]
    events: NotRequired[
        Sequence[
            Literal[
                "notification.accepted",
                "notification.sent",
                "notification.delivered",
                "notification.read",
                "notification.failed",
                "notification.expired",
                "notification.suppressed",
                "notification.cancelled",
                "contact.invalidated",
                "inbox.action",
                "bulk_job.created",
                "bulk_job.started",
                "bulk_job.paused",
                "bulk_job.resumed",
                "bulk_job.finished",
                "bulk_job.cancelled",
                "bulk_job.aborted",
            ]
        ]
        | None
    ]
    preset: NotRequired[Literal["standard", "brief"] | None]
    state: NotRequired[Literal["active", "paused", "disabled"] | None]
    """`active`: waiting messages leave.

    `paused`: messages wait, for 7 days at most. `disabled`: no messages are made, and waiting
    messages are given up.
    """


class WebhookAttemptLine(TypedDict):
    """A call of an endpoint."""

    id: int
    message_id: str
    """The `webhook-id`, the same in all calls of a message."""

    type: str
    notification_id: str | None
    delivery_id: str | None
    bulk_job_id: str | None
    number: int
    started_at: str
    latency_ms: int
    http_status: int | None
    """null: no HTTP answer came; `error` says why."""

    error: str
    response: str
    """Beginning of the answer's body."""

    message_state: str
    """`waiting` for a further call, `sent`, or `failed`: no further call."""


class WebhookEndpointAnswer(TypedDict):
    """An endpoint."""

    id: int
    url: str | None
    """null: the endpoint of `webhook_url` in requests."""

    events: list[str]
    """Empty: all events."""

    preset: Literal["standard", "brief"]
    state: Literal["active", "paused", "disabled"]
    state_reason: str
    state_since: str | None
    failures: int
    """Failed calls since the last successful call."""

    failing_since: str | None
    previous_secret_until: str | None
    """Until then the previous secret signs too."""

    replay_since: str | None
    """Start of the replay that runs; null: none runs."""

    created_at: str


class WebhookEndpointCreated(TypedDict):
    """The new endpoint with the signing secret, which no other response shows."""

    id: int
    url: str | None
    """null: the endpoint of `webhook_url` in requests."""

    events: list[str]
    """Empty: all events."""

    preset: Literal["standard", "brief"]
    state: Literal["active", "paused", "disabled"]
    state_reason: str
    state_since: str | None
    failures: int
    """Failed calls since the last successful call."""

    failing_since: str | None
    previous_secret_until: str | None
    """Until then the previous secret signs too."""

    replay_since: str | None
    """Start of the replay that runs; null: none runs."""

    created_at: str
    secret: str
    """`whsec_` and base64, as in Standard Webhooks."""


class WebhookEndpointRequest(TypedDict):
    """A new endpoint."""

    url: str
    """An https URL with a public address."""

    events: NotRequired[
        Sequence[
            Literal[
                "notification.accepted",
                "notification.sent",
                "notification.delivered",
                "notification.read",
                "notification.failed",
                "notification.expired",
                "notification.suppressed",
                "notification.cancelled",
                "contact.invalidated",
                "inbox.action",
                "bulk_job.created",
                "bulk_job.started",
                "bulk_job.paused",
                "bulk_job.resumed",
                "bulk_job.finished",
                "bulk_job.cancelled",
                "bulk_job.aborted",
            ]
        ]
    ]
    """Omitted: all events."""

    preset: NotRequired[Literal["standard", "brief"]]
    """`standard`: answers within 10 s, retries over 24 hours.

    `brief`: answers within 30 s, three retries after 1, 2 and 4 s, none after a 4xx. Default:
    `"standard"`.
    """


class WebhookReplay(TypedDict):
    """The start of a replay."""

    since: str | datetime
    """Send the messages of all status changes at or after this instant again."""


class WebhookSecretRotated(TypedDict):
    """The new signing secret, which no other response shows."""

    secret: str
    previous_secret_until: str


class WebhookSecretRotation(TypedDict):
    """Options of a rotation."""

    overlap_hours: NotRequired[int]
    """Hours for which the previous secret signs too. Default: `24`."""


class WebhookTestSent(TypedDict):
    """The test event waits for its call."""

    message_id: str
    """The `webhook-id` of the call."""
