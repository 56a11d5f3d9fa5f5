"""Recur: make the notifications of a schedule, a day ahead of their time.

Each occurrence becomes one notification: the schedule's row is locked, and its position moves in
the same transaction, so two sweeps, a repeat or a crash do no harm. Beat can be dead for a day
without a miss. After a longer outage only the last missed occurrence is sent, if its time to live
is not over.

Each occurrence counts against its producer's rate limit; an occurrence that is far ahead waits for
room. An occurrence is a time on a wall clock. If the clock is the recipient's, the release looks at
the timezone again.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from cryptography.fernet import InvalidToken
from django.db import transaction

from notifications import conf
from notifications.intake import accept
from notifications.intake.accept import Refused, Taken
from notifications.intake.validation import Caller
from notifications.models import Notification, Occurrence, Producer, Schedule
from notifications.rules import request
from notifications.rules.lane import Mode, Priority
from notifications.rules.problems import Kind, Problem
from notifications.rules.request import NotificationRequest
from notifications.rules.times import local_time, recurrence
from notifications.store.cached import notification_types
from notifications.store.postgres import late_encryption, reads
from notifications.store.rate_limits import producer_limits
from notifications.store.rate_limits.producer_limits import Charge

AHEAD: Final = dt.timedelta(days=1)
"""How long before its time an occurrence becomes a notification, which can still be cancelled."""
_SOON: Final = dt.timedelta(hours=1)
"""An occurrence so near is made even where its producer is over its rate limit."""
_MOST_AT_ONCE: Final = 500
"""Notifications of one schedule in one transaction."""
_ZONES_DIFFER: Final = dt.timedelta(hours=27)
"""More than the clocks of two zones can differ."""

Pair = tuple[dt.datetime, dt.datetime]
"""The local time and the instant of an occurrence."""


class Unreadable(Exception):
    """This release does not accept the stored request of a schedule; change the schedule."""


class _Busy(Exception):
    """An ordering key is locked: nothing is stored, and the next sweep tries again."""


def materialise(schedule_id: int, *, now: dt.datetime) -> int:
    """Make the notifications of the next day; returns the number of occurrences.

    Safe to run twice and from two sweeps: a locked row is skipped.

    Raises:
        Unreadable: the stored request is not valid any more.
    """
    try:
        with transaction.atomic():
            waiting = Schedule.objects.select_for_update(skip_locked=True, of=("self",))
            found = waiting.filter(id=schedule_id, due_at__lte=now).first()
            return _materialise(found, now=now) if found else 0
    except _Busy:
        return 0


def body_of(schedule: Schedule) -> dict[str, Any]:
    """Return the notification of a schedule as JSON, with its sealed variables.

    Raises:
        Unreadable: the sealed variables cannot be read.
    """
    try:
        return late_encryption.body_of(schedule)
    except InvalidToken as error:
        said = "its sensitive variables were sealed with a key that is not configured any more"
        raise Unreadable(said) from error


def set_aside(schedule_id: int, *, problem: str, until: dt.datetime) -> None:
    """Note why a schedule fails, and when to try again.

    `due_at` stays, so that missed occurrences are made up for as after any other delay.
    """
    Schedule.objects.filter(id=schedule_id).update(problem=problem[:300], retry_at=until)


def occurrences(schedule: Schedule, zone: str, *, after: dt.datetime) -> Iterator[Pair]:
    """Return the coming occurrences on the clocks of a zone, until the schedule ends."""
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


def next_times(schedule: Schedule, *, after: dt.datetime) -> Iterator[dt.datetime]:
    """Return the instants after an instant, whether paused or not."""
    for _, at in occurrences(schedule, zone_of(schedule), after=after):
        yield at


def next_at(schedule: Schedule, *, now: dt.datetime) -> dt.datetime | None:
    """Return the next occurrence; None if the schedule is paused or over."""
    made = schedule.occurrences.filter(at__gt=now).order_by("at").first()
    if made is not None:
        return made.at
    return schedule.due_at + AHEAD if schedule.due_at else None


def zone_of(schedule: Schedule) -> str:
    """Return the timezone on whose clock the schedule runs now; empty if it is unknown."""
    if schedule.timezone:
        return schedule.timezone
    user_id = schedule.request.get("user_id") or ""
    reach = reads.reaches(Mode(schedule.mode), [user_id]).get(user_id)
    return reach.timezone if reach else ""


def stand(schedule: Schedule, following: Pair | None) -> None:
    """Set the next occurrence; None: there is none. The row is not saved."""
    schedule.problem, schedule.retry_at = "", None
    schedule.next_local = following[0].isoformat(timespec="seconds") if following else ""
    schedule.due_at = following[1] - AHEAD if following else None


def _materialise(schedule: Schedule, *, now: dt.datetime) -> int:
    producer = Producer.objects.filter(id=schedule.producer_id, is_active=True).first()
    body = request.parse(body_of(schedule))
    if producer is None:
        return 0
    if isinstance(body, Problem):
        raise Unreadable("; ".join([body.detail, *(error.detail for error in body.errors)]))
    zone, time_to_live = zone_of(schedule), _time_to_live(body)
    # By local time: the recipient may have moved since the last look.
    stands = dt.datetime.fromisoformat(schedule.next_local)
    since = max(now - time_to_live, (schedule.due_at or now) + AHEAD - _ZONES_DIFFER)
    coming = (pair for pair in occurrences(schedule, zone, after=since) if pair[0] >= stands)
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
    paid = _paid(producer, schedule, due, now=now)
    following = following if paid == len(due) else due[paid]
    due = missed + due[:paid]
    _make(_Making(schedule, _caller(producer, schedule), body, zone), due, now=now)
    stand(schedule, following)
    schedule.save(update_fields=["next_local", "due_at", "problem", "retry_at"])
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
    """Build the request of one occurrence; the time to live of a late one began at its own time."""
    changed: dict[str, object] = {"scheduled_at": at}
    if at <= now:
        left = _time_to_live(body) - (now - at)
        changed["ttl_seconds"] = max(1, int(left.total_seconds()))
    return body.model_copy(update=changed)


def _time_to_live(body: NotificationRequest) -> dt.timedelta:
    if body.ttl_seconds is not None:
        return dt.timedelta(seconds=body.ttl_seconds)
    rule = notification_types.every().get(body.type)
    known = rule.priority if rule else Priority.P3
    return conf.current().times_to_live[known if body.priority is None else body.priority]


def _paid(producer: Producer, schedule: Schedule, due: Sequence[Pair], *, now: dt.datetime) -> int:
    """Charge the producer's rate limit; returns how many occurrences are made now.

    What occurs soon is made in any case. What occurs later takes at most half of what the producer
    has left, and the rest waits for the next sweep.
    """
    soon = sum(at <= now + _SOON for _, at in due)
    wanted = Charge(
        producer_id=producer.pk,
        mode=Mode(schedule.mode),
        cost=soon,
        rate_per_second=producer.rate_per_second,
        burst=producer.rate_burst,
    )
    producer_limits.take_some(wanted)
    later = dataclasses.replace(wanted, cost=len(due) - soon)
    return soon + producer_limits.take_some(later, share=2).taken


def _caller(producer: Producer, schedule: Schedule) -> Caller:
    return Caller(
        producer_id=producer.pk,
        mode=Mode(schedule.mode),
        priorities=frozenset(map(Priority, producer.priorities)),
        may_send_content=producer.may_send_content,
    )
