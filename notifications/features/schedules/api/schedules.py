"""`/v1/schedules`: recurring notifications."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock
from notifications.core.api import etags, schema
from notifications.core.api.authentication import actor_of, caller_of, key_of
from notifications.core.api.base_view import MAX_ID, BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.pagination import NumberedPageQuery, newest_page, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.models import Schedule
from notifications.core.rules.problems import Problem
from notifications.core.rules.recipient import Zone
from notifications.core.rules.request import Instant, NotificationRequest, Text
from notifications.core.rules.schedule_limits import MAX_RULE_LENGTH
from notifications.core.store.postgres import audit, late_encryption
from notifications.features.schedules import changes, occurrences

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


class ScheduleListView(BaseView):
    """`/v1/schedules`: create and list schedules."""

    @extend_schema(
        operation_id="create_schedule",
        summary="Create a schedule",
        request=ScheduleRequest,
        responses={201: ScheduleAnswer},
        tags=["Schedules"],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a schedule.

        Every occurrence becomes a notification a day ahead of the planned time.
        """
        wanted = parse_body(request.data, ScheduleRequest)
        fields = {
            "name": wanted.name,
            "rrule": wanted.rrule,
            "timezone": wanted.timezone or "",
            "starts_at": wanted.starts_at or clock.now(),
            "ends_at": wanted.ends_at,
            "paused": wanted.paused,
            "request": _notification(request.data),
        }
        with audit.changes(actor_of(request), "create_schedule") as made:
            arranged = changes.create(caller_of(request), fields)
            if isinstance(arranged, Schedule):
                made.append(arranged)
        return Response(_to_response(arranged), status=201)

    @extend_schema(
        operation_id="list_schedules",
        summary="List schedules, newest first",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(ScheduleAnswer)},
        tags=["Schedules"],
    )
    def get(self, request: Request) -> Response:
        """List the schedules of the key's producer and mode."""
        query, key = parse_query(request, NumberedPageQuery), key_of(request)
        found = Schedule.objects.filter(producer_id=key.producer_id, mode=key.mode)
        return newest_page(request, query, found, _to_response)


class ScheduleDetailView(BaseView):
    """`/v1/schedules/{schedule_id}`: read, change and end a schedule."""

    @extend_schema(
        operation_id="get_schedule",
        summary="Read a schedule",
        parameters=[etags.IF_NONE_MATCH],
        responses={200: ScheduleAnswer, 304: None},
        tags=["Schedules"],
    )
    def get(self, request: Request, schedule_id: int) -> Response:
        """Return a schedule with the time of the next occurrence."""
        found = _mine(request, schedule_id).first()
        if found is None:
            raise_not_found("schedule")
        return _etag_response(request, found)

    @extend_schema(
        operation_id="change_schedule",
        summary="Change, pause or resume a schedule",
        parameters=[etags.IF_MATCH],
        request=ScheduleChange,
        responses={200: ScheduleAnswer},
        tags=["Schedules"],
    )
    def patch(self, request: Request, schedule_id: int) -> Response:
        """Change, pause or resume a schedule.

        Occurrences which have not been sent are withdrawn and planned again.
        """
        wanted = parse_body(request.data, ScheduleChange)
        columns = _columns(wanted, request.data)
        with transaction.atomic():
            etags.check(request, lambda: _current_tag(request, schedule_id))
            with audit.changes(actor_of(request), "change_schedule", _mine(request, schedule_id)):
                changed = changes.change(caller_of(request), min(schedule_id, MAX_ID), columns)
        return _etag_response(request, changed)

    @extend_schema(
        operation_id="delete_schedule",
        summary="End a schedule",
        parameters=[etags.IF_MATCH],
        responses={204: None},
        tags=["Schedules"],
    )
    def delete(self, request: Request, schedule_id: int) -> Response:
        """End a schedule. Occurrences which have not been sent are withdrawn."""
        with transaction.atomic():
            etags.check(request, lambda: _current_tag(request, schedule_id))
            with audit.changes(actor_of(request), "delete_schedule", _mine(request, schedule_id)):
                removed = changes.remove(caller_of(request), min(schedule_id, MAX_ID))
        if not removed:
            raise_not_found("schedule")
        return Response(status=204)


def _mine(request: Request, schedule_id: int) -> QuerySet[Schedule]:
    key = key_of(request)
    mine = Schedule.objects.filter(producer_id=key.producer_id, mode=key.mode)
    return mine.filter(pk=min(schedule_id, MAX_ID))


def _current_tag(request: Request, schedule_id: int) -> str | None:
    found = _mine(request, schedule_id).select_for_update().first()
    return None if found is None else _tag(_to_response(found))


def _tag(told: dict[str, Any]) -> str:
    return etags.tag_of(told, without={"next_at"})  # changes as time passes


def _etag_response(request: Request, found: Schedule | Problem) -> Response:
    told = _to_response(found)
    return etags.etag_response(request, told, _tag(told))


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


def _to_response(found: Schedule | Problem) -> dict[str, Any]:
    if isinstance(found, Problem):
        raise_problem(found)
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
    ).to_json()
