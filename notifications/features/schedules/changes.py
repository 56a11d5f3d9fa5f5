"""Schedule changes: create, change, pause and delete recurring schedules.

A stored schedule is valid: the rule has an occurrence, and the notification would be accepted now.
A change withdraws unsent future notifications, and `occurrences` creates them again.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from notifications.core import clock
from notifications.core.intake import plan, validation
from notifications.core.intake.validation import Caller
from notifications.core.models import Producer, Recipient, Schedule
from notifications.core.rules import request
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.problems import FieldError, Kind, Problem, Refused
from notifications.core.rules.request import NotificationRequest
from notifications.core.rules.schedule_limits import MAX_SCHEDULES
from notifications.core.scheduling import cancel
from notifications.core.store.postgres import alerts
from notifications.core.store.templates import template_cache
from notifications.features.schedules import occurrences
from notifications.features.schedules.rules import recurrence


class ScheduleRefused(Refused):
    """The schedule cannot be created or changed; `problem` has the reason."""


def create(caller: Caller, fields: Mapping[str, Any]) -> Schedule:
    """Store a schedule; `fields` are columns of the model.

    Raises:
        ScheduleRefused: a field is wrong, the name is in use, or there are too many schedules.
    """
    made = Schedule(producer_id=caller.producer_id, mode=caller.mode, **fields)
    _refuse(_problem_of(caller, made, is_new=True))
    with transaction.atomic():
        # Lock the producer, so that two concurrent calls cannot exceed the limit.
        Producer.objects.select_for_update(no_key=True).get(pk=caller.producer_id)
        if _mine(caller).count() >= MAX_SCHEDULES:
            detail = f"this producer has {MAX_SCHEDULES} schedules, the most there may be"
            raise ScheduleRefused(Problem(Kind.CONFLICT, f"{detail}; delete one first"))
        _refuse(_problem_of_recipient(made))
        _save(made, now=clock.now())
    return made


def change(caller: Caller, schedule_id: int, fields: Mapping[str, Any]) -> Schedule:
    """Change a schedule; future notifications are withdrawn and created again.

    Raises:
        ScheduleRefused: the schedule is unknown, a field is wrong, or the name is in use; nothing
            is withdrawn.
    """
    with transaction.atomic():
        found = _mine(caller).select_for_update().filter(id=schedule_id).first()
        if found is None:
            raise ScheduleRefused(Problem(Kind.NOT_FOUND, "unknown schedule"))
        for name, value in fields.items():
            setattr(found, name, value)
        if "request" in fields:
            found.secrets, found.sealed_names = None, []
        _refuse(_problem_of(caller, found, is_new="request" in fields))
        if "request" in fields:
            _refuse(_problem_of_recipient(found))
        now = clock.now()
        _withdraw(found, now=now)
        _save(found, now=now)
    return found


def remove(caller: Caller, schedule_id: int) -> bool:
    """Delete a schedule and withdraw its future notifications; returns False if missing."""
    with transaction.atomic():
        found = _mine(caller).select_for_update().filter(id=schedule_id).first()
        if found is None:
            return False
        _withdraw(found, now=clock.now())
        found.delete()
    return True


def set_paused(schedules: Iterable[Schedule], *, to: bool) -> None:
    """Pause or resume schedules. Occurrences during a pause are skipped."""
    with transaction.atomic():
        locked = Schedule.objects.select_for_update().filter(id__in=[each.pk for each in schedules])
        for each in locked.order_by("id"):
            now = clock.now()  # after the lock, so that an occurrence sent meanwhile is in the past
            each.paused = to
            _withdraw(each, now=now)
            _save(each, now=now)


def _refuse(problem: Problem | None) -> None:
    if problem is not None:
        raise ScheduleRefused(problem)


def _problem_of(caller: Caller, schedule: Schedule, *, is_new: bool) -> Problem | None:
    """Check the rule and the notification of a schedule.

    A new notification must not contain a sensitive variable. A variable of an existing schedule
    that became sensitive is encrypted.
    """
    if (wrong := _problem_of_times(schedule)) is not None:
        return wrong
    asked = _parse_request(schedule)
    if isinstance(asked, Problem):
        return asked
    if (wrong := _problem_of_request(asked)) is not None:
        return wrong
    if is_new and (hidden := _sensitive(asked)):
        detail = f"{', '.join(hidden)} is sensitive: what is kept for long cannot hold it"
        return _invalid("/notification/variables", detail)
    ask = validation.IntakeRequest(caller, asked)
    planned = plan.plan_request(ask, validation.look_up([ask]), clock.new_notification_id())
    return _within(planned) if isinstance(planned, Problem) else None


def _parse_request(schedule: Schedule) -> NotificationRequest | Problem:
    try:
        asked = request.parse(occurrences.body_of(schedule))
    except occurrences.UnreadableSchedule as error:
        return Problem(Kind.CONFLICT, f"{error}: send the notification anew")
    return _within(asked) if isinstance(asked, Problem) else asked


def _problem_of_request(asked: NotificationRequest) -> Problem | None:
    if asked.idempotency_key or asked.scheduled_at or asked.send_at_local:
        detail = "leave idempotency_key, scheduled_at and send_at_local out: the rule says when"
        return _invalid("/notification", detail)
    if asked.to is not None:
        detail = "a schedule needs user_id: register the recipient first"
        return _invalid("/notification/to", detail)
    if asked.attachments:
        detail = "a schedule cannot have attachments: an uploaded file is deleted with its messages"
        return _invalid("/notification/attachments", detail)
    return None


def _problem_of_recipient(schedule: Schedule) -> Problem | None:
    """Lock the recipient until the schedule is stored, so that an erasure finds the schedule."""
    named = Recipient.objects.filter(mode=schedule.mode, user_id=schedule.request["user_id"])
    if named.select_for_update(no_key=True).first() is not None:
        return None
    detail = "the recipient was erased meanwhile"
    return Problem(Kind.UNKNOWN_RECIPIENT, detail, (FieldError("/notification/user_id", detail),))


def _problem_of_times(schedule: Schedule) -> Problem | None:
    if schedule.ends_at is not None and schedule.ends_at <= schedule.starts_at:
        return _invalid("/ends_at", "it must lie after starts_at")
    try:
        recurrence.parse(schedule.rrule)
        before = schedule.starts_at - dt.timedelta(seconds=1)
        first = next(occurrences.next_times(schedule, after=before), None)
    except ValueError as error:
        return _invalid("/rrule", str(error))
    if first is None:
        return _invalid("/rrule", "it never occurs between starts_at and ends_at")
    return None


def _save(schedule: Schedule, *, now: dt.datetime) -> None:
    """Save a schedule with the next occurrence.

    After `_withdraw` the time is the same: an occurrence between two times would be lost.

    Raises:
        ScheduleRefused: the name is in use.
    """
    following = occurrences.occurrences(schedule, occurrences.zone_of(schedule), after=now)
    occurrences.set_next_occurrence(schedule, None if schedule.paused else next(following, None))
    try:
        with transaction.atomic():
            schedule.save()
    except IntegrityError as error:
        detail = f"there is a schedule with the name {schedule.name}"
        problem = Problem(Kind.CONFLICT, detail, (FieldError("/name", detail),))
        raise ScheduleRefused(problem) from error


def _withdraw(schedule: Schedule, *, now: dt.datetime) -> None:
    """Stop the future notifications of a locked schedule, except deliveries during their send.

    The alert about the schedule ends too: the cause is changed, paused or deleted.
    """
    alerts.resolve(AlertKind.SCHEDULE_FAILED, str(schedule.pk))
    ahead = schedule.occurrences.filter(at__gt=now)
    made = [each.notification_id for each in ahead if each.notification_id is not None]
    if made:
        cancel.stop(made)
    ahead.delete()


def _sensitive(asked: NotificationRequest) -> list[str]:
    if asked.template_id is None:
        return []
    template = template_cache.by_name([asked.template_id]).get(asked.template_id)
    return sorted(template.sensitive & asked.variables.reveal().keys()) if template else []


def _mine(caller: Caller) -> QuerySet[Schedule]:
    return Schedule.objects.filter(producer_id=caller.producer_id, mode=caller.mode)


def _invalid(pointer: str, detail: str) -> Problem:
    return Problem(Kind.INVALID, detail, (FieldError(pointer, detail),))


def _within(problem: Problem) -> Problem:
    errors = tuple(
        FieldError(f"/notification{each.pointer}", each.detail) for each in problem.errors
    )
    return Problem(problem.kind, problem.detail, errors)
