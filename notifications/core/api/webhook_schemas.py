"""Requests and responses of `/v1/webhook-endpoints`."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.rules.request import Instant, Text
from notifications.core.rules.webhook_events import FILTERABLE, RetryPreset

EventName = Literal[
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
EndpointUrl = Annotated[Text, Field(min_length=1, max_length=2048)]
EventNames = Annotated[list[EventName], Field(max_length=len(FILTERABLE))]
StateName = Literal["active", "paused", "disabled"]


class WebhookEndpointRequest(RequestModel):
    """A new endpoint."""

    url: EndpointUrl
    """An https URL with a public address."""
    events: EventNames = Field(default_factory=list)
    """Omitted: all events."""
    preset: RetryPreset = RetryPreset.STANDARD
    """`standard`: answers within 10 s, retries over 24 hours. `brief`: answers within 30 s, three
    retries after 1, 2 and 4 s, none after a 4xx."""


class WebhookEndpointChange(RequestModel):
    """Changes of an endpoint; omitted fields stay."""

    url: EndpointUrl | None = None
    events: EventNames | None = None
    preset: RetryPreset | None = None
    state: StateName | None = None
    """`active`: waiting messages leave. `paused`: messages wait, for 7 days at most. `disabled`:
    no messages are made, and waiting messages are given up."""


class WebhookSecretRotation(RequestModel):
    """Options of a rotation."""

    overlap_hours: Annotated[int, Field(ge=0, le=168)] = 24
    """Hours for which the previous secret signs too."""


class WebhookReplay(RequestModel):
    """The start of a replay."""

    since: Instant
    """Send the messages of all status changes at or after this instant again."""


class WebhookEndpointAnswer(ResponseModel):
    """An endpoint."""

    id: int
    url: str | None
    """null: the endpoint of `webhook_url` in requests."""
    events: list[str]
    """Empty: all events."""
    preset: RetryPreset
    state: StateName
    state_reason: str
    state_since: dt.datetime | None
    failures: int
    """Failed calls since the last successful call."""
    failing_since: dt.datetime | None
    previous_secret_until: dt.datetime | None
    """Until then the previous secret signs too."""
    replay_since: dt.datetime | None
    """Start of the replay that runs; null: none runs."""
    created_at: dt.datetime


class WebhookEndpointCreated(WebhookEndpointAnswer):
    """The new endpoint with the signing secret, which no other response shows."""

    secret: str
    """`whsec_` and base64, as in Standard Webhooks."""


class WebhookSecretRotated(ResponseModel):
    """The new signing secret, which no other response shows."""

    secret: str
    previous_secret_until: dt.datetime


class WebhookTestSent(ResponseModel):
    """The test event waits for its call."""

    message_id: UUID
    """The `webhook-id` of the call."""


class WebhookAttemptLine(ResponseModel):
    """A call of an endpoint."""

    id: int
    message_id: UUID
    """The `webhook-id`, the same in all calls of a message."""
    type: str
    notification_id: UUID | None
    delivery_id: UUID | None
    bulk_job_id: UUID | None
    number: int
    started_at: dt.datetime
    latency_ms: int
    http_status: int | None
    """null: no HTTP answer came; `error` says why."""
    error: str
    response: str
    """Beginning of the answer's body."""
    message_state: str
    """`waiting` for a further call, `sent`, or `failed`: no further call."""
