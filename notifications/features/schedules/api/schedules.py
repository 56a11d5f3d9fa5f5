"""`/v1/schedules`: recurring notifications."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Final

from django.db.models import QuerySet
from pydantic import Field

from notifications.core import clock
from notifications.core.api import etags
from notifications.core.api.examples import TAG, USER, Example
from notifications.core.api.operation import Access, Call
from notifications.core.api.pagination import NumberedPageQuery
from notifications.core.api.resource import Resource
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.models import Schedule
from notifications.core.rules.access import BOTH
from notifications.core.rules.problems import Kind
from notifications.core.rules.recipient import Zone
from notifications.core.rules.request import Instant, NotificationRequest, Text
from notifications.core.rules.schedule_limits import MAX_RULE_LENGTH
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import late_encryption
from notifications.features.schedules import changes, occurrences

_WEEKLY: Final = {
    "user_id": USER,
    "type": "ORDER_SHIPPED",
    "content": {"title": "Your week", "body": "Three orders arrived this week."},
}

ScheduleName = Annotated[Text, Field(min_length=1, max_length=100)]
RuleText = Annotated[Text, Field(min_length=1, max_length=MAX_RULE_LENGTH)]


class ScheduleRequest(RequestModel):
    """A recurring notification."""

    name: ScheduleName
    """Unique per producer."""
    rrule: RuleText
    """RFC 5545 rule, such as `FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0`; at most once a minute."""
    timezone: Zone | None = None
    """Timezone of the rule; omitted: the recipient's timezone."""
    starts_at: Instant | None = None
    """Omitted: now. The start gives the time of day if the rule has none."""
    ends_at: Instant | None = None
    paused: bool = False
    notification: NotificationRequest
    """Without idempotency_key, scheduled_at and send_at_local."""


class ScheduleChange(RequestModel):
    """Changes of a schedule; omitted fields stay. Future occurrences are planned again."""

    name: ScheduleName | None = None
    rrule: RuleText | None = None
    timezone: Zone | None = None
    """null: the recipient's timezone."""
    starts_at: Instant | None = None
    ends_at: Instant | None = None
    """null: the schedule has no end."""
    paused: bool | None = None
    notification: NotificationRequest | None = None


class ScheduleAnswer(ResponseModel):
    """A stored schedule."""

    id: int
    name: str
    rrule: str
    timezone: str | None
    """null: the recipient's timezone."""
    starts_at: dt.datetime
    ends_at: dt.datetime | None
    paused: bool
    next_at: dt.datetime | None
    """Time of the next occurrence; null: the schedule is paused or over."""
    notification: dict[str, Any]
    created_at: dt.datetime
    updated_at: dt.datetime


def _own(call: Call) -> QuerySet[Schedule]:
    return Schedule.objects.filter(producer_id=call.key.producer_id, mode=call.key.mode)


def _to_answer(found: Schedule) -> ScheduleAnswer:
    return ScheduleAnswer(
        id=found.pk,
        name=found.name,
        rrule=found.rrule,
        timezone=found.timezone or None,
        starts_at=found.starts_at,
        ends_at=found.ends_at,
        paused=found.paused,
        next_at=occurrences.next_at(found, now=clock.now()),
        notification=late_encryption.body_with_masks(found),
        created_at=found.created_at,
        updated_at=found.updated_at,
    )


SCHEDULES: Final = Resource(
    noun="schedule",
    path="v1/schedules/<int:schedule_id>",
    rows=_own,
    answer=ScheduleAnswer,
    to_answer=_to_answer,
    tag="Schedules",
    tag_of=lambda told: etags.tag_of(told, without={"next_at"}),  # changes as time passes
)


@SCHEDULES.create(
    "Create a schedule",
    Access(Scope.NOTIFICATIONS_WRITE),
    ScheduleRequest,
    problems={Kind.CONFLICT, Kind.UNKNOWN_RECIPIENT},
    examples={
        "minimal": Example(
            "Each day, on the recipient's clock",
            body={
                "name": "daily-summary",
                "rrule": "FREQ=DAILY;BYHOUR=9;BYMINUTE=0",
                "notification": _WEEKLY,
            },
        ),
        "usual": Example(
            "Each Monday at nine in Berlin, until an end",
            headers={"Idempotency-Key": "weekly-summary-u_789012"},
            body={
                "name": "weekly-summary",
                "rrule": "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0",
                "timezone": "Europe/Berlin",
                "ends_at": "2100-01-01T00:00:00Z",
                "notification": _WEEKLY,
            },
        ),
    },
)
def create_schedule(call: Call, wanted: ScheduleRequest) -> Schedule:
    """Create a schedule.

    Every occurrence becomes a notification a day ahead of the planned time.
    """
    fields = {
        "name": wanted.name,
        "rrule": wanted.rrule,
        "timezone": wanted.timezone or "",
        "starts_at": wanted.starts_at or clock.now(),
        "ends_at": wanted.ends_at,
        "paused": wanted.paused,
        "request": _notification(call.request.data),
    }
    return changes.create(call.caller, fields)


@SCHEDULES.list(
    "List schedules, newest first",
    Access(Scope.NOTIFICATIONS_READ, BOTH, "view_schedule"),
    NumberedPageQuery,
    examples={
        "minimal": Example("The latest schedules"),
        "usual": Example("Ten schedules after a cursor", query={"limit": 10, "cursor": 4711}),
    },
)
def list_schedules(call: Call, _query: NumberedPageQuery) -> QuerySet[Schedule]:
    """List the schedules of the key's producer and mode."""
    return _own(call)


@SCHEDULES.read(
    "Read a schedule",
    Access(Scope.NOTIFICATIONS_READ, BOTH, "view_schedule"),
    examples={
        "minimal": Example("A schedule", path={"schedule_id": 17}),
        "usual": Example(
            "Only if the schedule has changed",
            status=304,
            path={"schedule_id": 17},
            headers={"If-None-Match": TAG},
        ),
    },
)
def get_schedule(_call: Call, schedule: Schedule) -> Schedule:
    """Return a schedule with the time of the next occurrence."""
    return schedule


@SCHEDULES.change(
    "PATCH",
    "Change, pause or resume a schedule",
    Access(Scope.NOTIFICATIONS_WRITE, BOTH, "change_schedule"),
    ScheduleChange,
    problems={Kind.CONFLICT},
    examples={
        "minimal": Example("Pause a schedule", path={"schedule_id": 17}, body={"paused": True}),
        "usual": Example(
            "Another rule, unless the schedule has changed",
            path={"schedule_id": 17},
            headers={"If-Match": TAG},
            body={"rrule": "FREQ=WEEKLY;BYDAY=FR;BYHOUR=16;BYMINUTE=30", "paused": False},
        ),
    },
)
def change_schedule(call: Call, schedule: Schedule, wanted: ScheduleChange) -> None:
    """Change, pause or resume a schedule.

    Occurrences which have not been sent are withdrawn and planned again.
    """
    changes.change(call.caller, schedule.pk, _columns(wanted, call.request.data))


@SCHEDULES.change(
    "DELETE",
    "End a schedule",
    Access(Scope.NOTIFICATIONS_WRITE),
    answers={204: None},
    examples={
        "minimal": Example("End a schedule", path={"schedule_id": 17}),
        "usual": Example(
            "End a schedule, unless the schedule has changed",
            path={"schedule_id": 17},
            headers={"If-Match": TAG},
        ),
    },
)
def delete_schedule(call: Call, schedule: Schedule) -> None:
    """End a schedule. Occurrences which have not been sent are withdrawn."""
    changes.remove(call.caller, schedule.pk)


def _notification(body: object) -> object:
    """Return the notification of a body unparsed: every occurrence parses the JSON again."""
    return body["notification"] if isinstance(body, dict) else None


def _columns(wanted: ScheduleChange, body: object) -> dict[str, Any]:
    given = wanted.model_dump(exclude_unset=True, exclude={"notification"})
    emptied = {"timezone": "", "ends_at": None}
    known = {
        name: emptied.get(name) if value is None else value
        for name, value in given.items()
        if value is not None or name in emptied
    }
    if wanted.notification is not None:
        known["request"] = _notification(body)
    return known
