"""Schedules: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NotRequired, TypedDict

from notify_client.types.shared import (
    NotificationRequest,
)


class ScheduleChange(TypedDict):
    """Changes of a schedule; omitted fields stay. Future occurrences are planned again."""

    name: NotRequired[str | None]
    rrule: NotRequired[str | None]
    timezone: NotRequired[str | None]
    """null: the recipient's timezone."""

    starts_at: NotRequired[str | datetime | None]
    ends_at: NotRequired[str | datetime | None]
    """null: the schedule has no end."""

    paused: NotRequired[bool | None]
    notification: NotRequired[NotificationRequest | None]


class ScheduleAnswer(TypedDict):
    """A stored schedule."""

    id: int
    name: str
    rrule: str
    timezone: str | None
    """null: the recipient's timezone."""

    starts_at: str
    ends_at: str | None
    paused: bool
    next_at: str | None
    """Time of the next occurrence; null: the schedule is paused or over."""

    notification: dict[str, Any]
    created_at: str
    updated_at: str


class ScheduleRequest(TypedDict):
    """A recurring notification."""

    name: str
    """Unique per producer."""

    rrule: str
    """RFC 5545 rule, such as `FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0`; at most once a minute."""

    timezone: NotRequired[str | None]
    """Timezone of the rule; omitted: the recipient's timezone."""

    starts_at: NotRequired[str | datetime | None]
    """Omitted: now. The start gives the time of day if the rule has none."""

    ends_at: NotRequired[str | datetime | None]
    paused: NotRequired[bool]
    """Default: `false`."""

    notification: NotificationRequest
    """Without idempotency_key, scheduled_at and send_at_local."""
