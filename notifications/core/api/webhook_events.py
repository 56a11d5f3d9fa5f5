"""Bodies of webhooks to producers, for the section `webhooks` of the OpenAPI document."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final, Literal
from uuid import UUID

from drf_spectacular.utils import OpenApiResponse, OpenApiWebhook, extend_schema

from notifications.core.api.schemas import ChannelWord, ResponseModel

_TAGS: Final = ["Webhooks"]
_TAKEN: Final = {204: OpenApiResponse(description="Any 2xx ends the calls of the message.")}


class NotificationEventData(ResponseModel):
    """A status change of a notification or a delivery."""

    producer: str
    """The name of the producer that sent the notification."""
    notification_id: UUID
    delivery_id: UUID | None
    action_id: str = ""
    """`inbox.action`: the `id` of the pressed button."""
    user_id: str
    channel: ChannelWord | None
    provider: str | None
    status: str
    reason: str
    message: str
    """The reason as a sentence."""
    metadata: dict[str, Any]
    occurred_at: dt.datetime
    request_id: str | None


class NotificationEvent(ResponseModel):
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
    timestamp: dt.datetime
    data: NotificationEventData


class ContactEventData(ResponseModel):
    """A contact whose address a provider reported as dead."""

    contact_id: int
    user_id: str
    channel: ChannelWord
    reason: str
    message: str
    occurred_at: dt.datetime


class ContactEvent(ResponseModel):
    """A contact became invalid."""

    type: Literal["contact.invalidated"]
    timestamp: dt.datetime
    data: ContactEventData


class BulkJobEventProgress(ResponseModel):
    """The progress of a bulk job at the time of the call."""

    examined: int
    """Recipients who got a notification or were left out."""
    accepted: int
    """Notifications."""
    left_out: dict[str, int]
    """Reason -> recipients without a notification."""


class BulkJobEventData(ResponseModel):
    """A bulk job that changed."""

    bulk_job_id: UUID
    name: str
    reason: str
    """Reason of the change, for people; often empty."""
    metadata: dict[str, Any]
    progress: BulkJobEventProgress
    occurred_at: dt.datetime


class BulkJobEvent(ResponseModel):
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
    timestamp: dt.datetime
    data: BulkJobEventData


NOTIFICATION: Final = OpenApiWebhook(
    name="notification",
    decorator=extend_schema(
        operation_id="receive_notification_event",
        summary="A notification changed",
        description="A status change of a notification, or the press of a button in an inbox.",
        request=NotificationEvent,
        responses=_TAKEN,
        auth=[],
        tags=_TAGS,
    ),
)
CONTACT: Final = OpenApiWebhook(
    name="contact",
    decorator=extend_schema(
        operation_id="receive_contact_event",
        summary="A contact became invalid",
        description="A provider reported an address as dead; the body lacks the address.",
        request=ContactEvent,
        responses=_TAKEN,
        auth=[],
        tags=_TAGS,
    ),
)
BULK_JOB: Final = OpenApiWebhook(
    name="bulk_job",
    decorator=extend_schema(
        operation_id="receive_bulk_job_event",
        summary="A bulk job changed",
        description="A change of a bulk job. `bulk_job.finished`: the whole audience is expanded.",
        request=BulkJobEvent,
        responses=_TAKEN,
        auth=[],
        tags=_TAGS,
    ),
)
