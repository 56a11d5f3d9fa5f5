"""Schedules: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NotRequired, TypedDict

from notify_client.types.shared import (
    NotificationRequest,
)


class ScheduleChange(TypedDict):
    """What changes; what is left out stays. Its future is made anew."""

    name: NotRequired[str | None]
    rrule: NotRequired[str | None]
    timezone: NotRequired[str | None]
    """null: the recipient's."""

    starts_at: NotRequired[str | datetime | None]
    ends_at: NotRequired[str | datetime | None]
    """null: it goes on for ever."""

    paused: NotRequired[bool | None]
    notification: NotRequired[NotificationRequest | None]


class ScheduleAnswer(TypedDict):
    """A schedule as it stands."""

    id: int
    name: str
    rrule: str
    timezone: str | None
    """null: the recipient's."""

    starts_at: str
    ends_at: str | None
    paused: bool
    next_at: str | None
    """null: it is paused, or over."""

    notification: dict[str, Any]
    created_at: str
    updated_at: str


class ScheduleRequest(TypedDict):
    """A notification that recurs."""

    name: str
    """Once for each producer."""

    rrule: str
    """RFC 5545, like `FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0`; at most each minute."""

    timezone: NotRequired[str | None]
    """On whose clock the rule runs; left out: the recipient's."""

    starts_at: NotRequired[str | datetime | None]
    """Left out: now. It gives the time of day where the rule does not."""

    ends_at: NotRequired[str | datetime | None]
    paused: NotRequired[bool]
    """Default: `false`."""

    notification: NotificationRequest
    """Without idempotency_key, scheduled_at and send_at_local."""


class ListSchedulesQuery(TypedDict, total=False):
    """What `list_schedules` is asked for."""

    cursor: int
    """`next` of the page before."""

    limit: int
    """Most results of one page. Default: `50`."""
