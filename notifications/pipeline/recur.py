"""Recur: schedules, and the notifications that they become a day ahead.

    create, change, remove     the producer's word; what had been made of the future is withdrawn
    materialise                the sweep's: each occurrence of the coming day becomes a notification

The promise: each occurrence becomes one notification. The row of the schedule is locked while
notifications are made of it, and where it stands moves in the same transaction; two sweeps, a
repeated one and a crash between do no harm. A day ahead means that beat can be dead for a day and
none is missed. After more than that, the last occurrence missed is sent if its time to live is not
over, and the others are not: yesterday's nine reminders help nobody.

An occurrence is a time on a wall clock. Where that is the recipient's, it is looked at again when
the notification is released.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from notifications import clock
from notifications.models import Notification, Occurrence, Producer, Schedule
from notifications.pipeline import accept, cancel, plan
from notifications.pipeline.accept import Refused, Taken
from notifications.pipeline.check import Caller
from notifications.rules import request
from notifications.rules.lane import DEFAULT_TIME_TO_LIVE, Mode, Priority
from notifications.rules.problems import FieldError, Kind, Problem
from notifications.rules.request import NotificationRequest
from notifications.rules.times import local_time, recurrence
from notifications.store import reads, type_rules
from notifications.store.templates import shelf

AHEAD: Final = dt.timedelta(days=1)
"""How long before its time an occurrence becomes a notification: seen, and still to be stopped."""
_MOST_AT_ONCE: Final = 500
"""Notifications made of one schedule in one transaction: a rule can occur each minute."""
_ZONES_DIFFER: Final = dt.timedelta(hours=27)
"""More than two zones' clocks can lie apart."""

Pair = tuple[dt.datetime, dt.datetime]
"""The local time and the instant of an occurrence."""


class _Busy(Exception):
    """An ordering key is locked by somebody else: nothing is stored, the next sweep tries again."""


def create(caller: Caller, fields: Mapping[str, Any]) -> Schedule | Problem:
    """Store a schedule.

    Args:
        caller: whose.
        fields: columns of the model.
    """
    made = Schedule(producer_id=caller.producer_id, mode=caller.mode, **fields)
    return problem_of(caller, made) or _saved(made)


def change(caller: Caller, schedule_id: int, fields: Mapping[str, Any]) -> Schedule | Problem:
    """Change a schedule; what was made of its future is withdrawn and made anew."""
    with transaction.atomic():
        found = _mine(caller).select_for_update().filter(id=schedule_id).first()
        if found is None:
            return Problem(Kind.NOT_FOUND, "there is no such schedule")
        for name, value in fields.items():
            setattr(found, name, value)
        problem = problem_of(caller, found)
        if problem is not None:
            return problem
        withdraw(found)
        return _saved(found)


def remove(caller: Caller, schedule_id: int) -> bool:
    """Forget a schedule and withdraw what was made of its future; False when there is none."""
    with transaction.atomic():
        found = _mine(caller).select_for_update().filter(id=schedule_id).first()
        if found is None:
            return False
        withdraw(found)
        found.delete()
    return True


def set_paused(schedules: Iterable[Schedule], *, to: bool) -> None:
    """Pause or resume: nothing that would have occurred in a pause is made up for."""
    with transaction.atomic():
        locked = Schedule.objects.select_for_update().filter(id__in=[each.pk for each in schedules])
        for each in locked.order_by("id"):
            each.paused = to
            withdraw(each)
            _saved(each)


def materialise(schedule_id: int, *, now: dt.datetime) -> int:
    """Make notifications of what occurs within a day; returns how many occurrences.

    Safe to run twice and from two sweeps: who finds the row locked leaves it.
    """
    try:
        with transaction.atomic():
            waiting = Schedule.objects.select_for_update(skip_locked=True, of=("self",))
            found = waiting.filter(id=schedule_id, due_at__lte=now).first()
            return _materialise(found, now=now) if found else 0
    except _Busy:
        return 0


def next_times(schedule: Schedule, *, after: dt.datetime) -> Iterator[dt.datetime]:
    """When it occurs after an instant, paused or not."""
    for _, at in _occurrences(schedule, zone_of(schedule), after=after):
        yield at


def next_at(schedule: Schedule, *, now: dt.datetime) -> dt.datetime | None:
    """When it occurs next; None when it is paused or over."""
    made = schedule.occurrences.filter(at__gt=now).order_by("at").first()
    if made is not None:
        return made.at
    return schedule.due_at + AHEAD if schedule.due_at else None


def zone_of(schedule: Schedule) -> str:
    """On whose clock it runs now; empty when nobody knows where the recipient is."""
    if schedule.timezone:
        return schedule.timezone
    user_id = schedule.request["user_id"]
    reach = reads.reaches(Mode(schedule.mode), [user_id]).get(user_id)
    return reach.timezone if reach else ""


def problem_of(caller: Caller, schedule: Schedule) -> Problem | None:
    """Why a schedule cannot be taken: its rule, or the notification that it would become."""
    if schedule.ends_at is not None and schedule.ends_at <= schedule.starts_at:
        return _invalid("/ends_at", "it must lie after starts_at")
    try:
        recurrence.parse(schedule.rrule)
        next(next_times(schedule, after=clock.now()), None)
    except ValueError as error:
        return _invalid("/rrule", str(error))
    asked = request.parse(schedule.request)
    if isinstance(asked, Problem):
        return _within(asked)
    if asked.idempotency_key or asked.scheduled_at or asked.send_at_local:
        said = "leave idempotency_key, scheduled_at and send_at_local out: the rule says when"
        return _invalid("/notification", said)
    if hidden := _sensitive(asked):
        said = f"{', '.join(hidden)} is sensitive: what is kept for long cannot hold it"
        return _invalid("/notification/variables", said)
    [planned] = plan.planned(caller, [asked], traceparent="")
    return _within(planned) if isinstance(planned, Problem) else None


def withdraw(schedule: Schedule) -> None:
    """Stop what was made of a locked schedule's future. What is being sent stays."""
    ahead = schedule.occurrences.filter(at__gt=clock.now())
    made = [each.notification_id for each in ahead if each.notification_id is not None]
    if made:
        cancel.stop(made)
    ahead.delete()


def _saved(schedule: Schedule) -> Schedule | Problem:
    """Save it with the first occurrence from now on as its next one."""
    following = _occurrences(schedule, zone_of(schedule), after=clock.now())
    _stand(schedule, None if schedule.paused else next(following, None))
    try:
        with transaction.atomic():
            schedule.save()
    except IntegrityError:
        said = f"there is a schedule with the name {schedule.name}"
        return Problem(Kind.CONFLICT, said, (FieldError("/name", said),))
    return schedule


def _stand(schedule: Schedule, following: Pair | None) -> None:
    """Where it stands: before this one; None: nothing more is to come."""
    schedule.next_local = following[0].isoformat(timespec="seconds") if following else ""
    schedule.due_at = following[1] - AHEAD if following else None


def _occurrences(schedule: Schedule, zone: str, *, after: dt.datetime) -> Iterator[Pair]:
    every = recurrence.occurrences(
        recurrence.parse(schedule.rrule),
        begins=schedule.starts_at,
        zone=local_time.zone(zone),
        after=after,
    )
    for local, at in every:
        if schedule.ends_at is not None and at > schedule.ends_at:
            return
        yield local, at


def _materialise(schedule: Schedule, *, now: dt.datetime) -> int:
    caller, zone = _caller(schedule), zone_of(schedule)
    body = request.parse(schedule.request)
    if caller is None or isinstance(body, Problem):
        return 0
    time_to_live = _time_to_live(body)
    # By local time: the recipient may have moved since the last look.
    stands = dt.datetime.fromisoformat(schedule.next_local)
    since = max(now - time_to_live, (schedule.due_at or now) + AHEAD - _ZONES_DIFFER)
    coming = (pair for pair in _occurrences(schedule, zone, after=since) if pair[0] >= stands)
    missed: list[Pair] = []
    due: list[Pair] = []
    following: Pair | None = None
    for pair in coming:
        if pair[1] <= now:
            missed = [pair]
        elif pair[1] <= now + AHEAD and len(due) < _MOST_AT_ONCE:
            due.append(pair)
        else:
            following = pair
            break
    due = missed + due
    _make(_Making(schedule, caller, body, zone), due, now=now)
    _stand(schedule, following)
    schedule.save(update_fields=["next_local", "due_at"])
    return len(due)


@dataclass(frozen=True, slots=True)
class _Making:
    """What notifications are made of."""

    schedule: Schedule
    caller: Caller
    body: NotificationRequest
    zone: str


def _make(making: _Making, due: Sequence[Pair], *, now: dt.datetime) -> None:
    """Accept each occurrence.

    Raises:
        _Busy: a lock could not be had in time.
    """
    if not due:
        return
    answers = accept.accept(making.caller, [_asked(making.body, at, now=now) for _, at in due])
    rows = []
    for (local, at), answer in zip(due, answers, strict=True):
        if isinstance(answer, Refused) and answer.problem.kind is Kind.IN_PROGRESS:
            raise _Busy
        rows.append(_occurrence(making, local, at, answer))
    Occurrence.objects.bulk_create(rows)


def _occurrence(
    making: _Making, local: dt.datetime, at: dt.datetime, answer: Taken | Refused
) -> Occurrence:
    row = Occurrence(schedule=making.schedule, local_at=local.isoformat(timespec="seconds"), at=at)
    if isinstance(answer, Refused):
        row.problem = answer.problem.detail[:300]
        return row
    row.notification_id = UUID(answer.response["notification_id"])
    if not making.schedule.timezone:
        Notification.objects.filter(id=row.notification_id).update(
            local_at=local.isoformat(timespec="minutes"), local_zone=making.zone
        )
    return row


def _asked(body: NotificationRequest, at: dt.datetime, *, now: dt.datetime) -> NotificationRequest:
    """One occurrence; the time to live of one that comes late began at its own time."""
    changed: dict[str, object] = {"scheduled_at": at}
    if at <= now:
        left = _time_to_live(body) - (now - at)
        changed["ttl_seconds"] = max(1, int(left.total_seconds()))
    return body.model_copy(update=changed)


def _time_to_live(body: NotificationRequest) -> dt.timedelta:
    if body.ttl_seconds is not None:
        return dt.timedelta(seconds=body.ttl_seconds)
    rule = type_rules.every().get(body.type)
    known = rule.priority if rule else Priority.P3
    return DEFAULT_TIME_TO_LIVE[known if body.priority is None else body.priority]


def _caller(schedule: Schedule) -> Caller | None:
    producer = Producer.objects.filter(id=schedule.producer_id, is_active=True).first()
    if producer is None:
        return None
    return Caller(
        producer_id=producer.pk,
        mode=Mode(schedule.mode),
        priorities=frozenset(map(Priority, producer.priorities)),
        may_send_content=producer.may_send_content,
    )


def _sensitive(asked: NotificationRequest) -> list[str]:
    if asked.template_id is None:
        return []
    template = shelf.by_name([asked.template_id]).get(asked.template_id)
    return sorted(template.sensitive & asked.variables.keys()) if template else []


def _mine(caller: Caller) -> QuerySet[Schedule]:
    return Schedule.objects.filter(producer_id=caller.producer_id, mode=caller.mode)


def _invalid(pointer: str, said: str) -> Problem:
    return Problem(Kind.INVALID, said, (FieldError(pointer, said),))


def _within(problem: Problem) -> Problem:
    """A notification's problem as one of the schedule around it."""
    errors = tuple(
        FieldError(f"/notification{each.pointer}", each.detail) for each in problem.errors
    )
    return Problem(problem.kind, problem.detail, errors)
