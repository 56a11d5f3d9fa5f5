"""Occurrences: create the notifications of a schedule, a day before their time.

An occurrence becomes one notification: a transaction locks the schedule's row, accepts the
notification and sets the next occurrence. Concurrent sweeps, repeats and crashes are therefore
harmless. Beat may be down for a day without a missed occurrence. After a longer outage only the
last missed occurrence is sent, within its time to live.

Each occurrence counts against the producer's rate limit; occurrences in the far future wait for
free quota. An occurrence is a time on a wall clock. For the recipient's wall clock, the release
reads the timezone again.
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

from notifications.core import conf
from notifications.core.intake import accept
from notifications.core.intake.accept import AcceptedRequest, Refused
from notifications.core.intake.validation import Caller
from notifications.core.models import Notification, Occurrence, Producer, Schedule
from notifications.core.rules import request
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.request import NotificationRequest
from notifications.core.rules.times import local_time
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres import alerts, late_encryption, reads
from notifications.core.store.rate_limits import producer_limits
from notifications.core.store.rate_limits.producer_limits import Charge
from notifications.features.schedules.rules import recurrence

AHEAD: Final = dt.timedelta(days=1)
"""An occurrence becomes a notification this long before its time, and can still be cancelled."""
_SOON: Final = dt.timedelta(hours=1)
"""Occurrences within this time are created even above the producer's rate limit."""
_MOST_AT_ONCE: Final = 500
"""Maximum notifications of a schedule in one transaction."""
_ZONES_DIFFER: Final = dt.timedelta(hours=27)
"""More than the maximum difference of two timezones."""

Pair = tuple[dt.datetime, dt.datetime]
"""The local time and the instant of an occurrence."""


class UnreadableSchedule(Exception):
    """The stored request of a schedule is no longer valid; the schedule must be changed."""


class _Busy(Exception):
    """The intake cannot answer now: no row is stored, and the next sweep tries again."""


_TEMPORARY: Final = frozenset({Kind.IN_PROGRESS, Kind.UNAVAILABLE})
"""Refusals after which the occurrence is tried again."""


def materialise(schedule_id: int, *, now: dt.datetime) -> int:
    """Create the notifications of the next day; returns the number of occurrences.

    Resolves the alert of an earlier failure. Safe to run twice and in concurrent sweeps: locked
    rows are skipped.

    Raises:
        UnreadableSchedule: the stored request is no longer valid.
    """
    try:
        with transaction.atomic():
            waiting = Schedule.objects.select_for_update(skip_locked=True, of=("self",))
            found = waiting.filter(id=schedule_id, due_at__lte=now).first()
            return _materialise(found, now=now) if found else 0
    except _Busy:
        return 0


def body_of(schedule: Schedule) -> dict[str, Any]:
    """Return the notification of a schedule as JSON, with encrypted variables decrypted.

    Raises:
        UnreadableSchedule: the variables cannot be decrypted.
    """
    try:
        return late_encryption.body_of(schedule)
    except InvalidToken as error:
        said = "the key of the sensitive variables is missing in NOTIFY_ENCRYPTION_KEYS"
        raise UnreadableSchedule(said) from error


def record_failure(schedule_id: int, *, problem: str, until: dt.datetime) -> None:
    """Store the error of a schedule with an alert, and the time of the next try.

    `due_at` stays, so the next try also creates missed occurrences, as after any delay.
    """
    with transaction.atomic():
        row = Schedule.objects.filter(id=schedule_id)
        if row.update(problem=problem[:300], retry_at=until):
            detail = f"schedule {schedule_id}: {problem}"
            alerts.raise_once(AlertKind.SCHEDULE_FAILED, str(schedule_id), detail)


def occurrences(schedule: Schedule, zone: str, *, after: dt.datetime) -> Iterator[Pair]:
    """Return the coming occurrences in a timezone, until the schedule ends."""
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
    """Return the occurrences after an instant, also for a paused schedule."""
    for _, at in occurrences(schedule, zone_of(schedule), after=after):
        yield at


def next_at(schedule: Schedule, *, now: dt.datetime) -> dt.datetime | None:
    """Return the next occurrence; None for a paused or ended schedule."""
    made = schedule.occurrences.filter(at__gt=now).order_by("at").first()
    if made is not None:
        return made.at
    return schedule.due_at + AHEAD if schedule.due_at else None


def zone_of(schedule: Schedule) -> str:
    """Return the schedule's current timezone; empty if unknown."""
    if own := local_time.zone_name(schedule.timezone):
        return own
    user_id = schedule.request.get("user_id") or ""
    reach = reads.reaches(Mode(schedule.mode), [user_id]).get(user_id)
    return reach.timezone if reach else ""


def set_next_occurrence(schedule: Schedule, following: Pair | None) -> None:
    """Set the next occurrence; None ends the schedule. Does not save."""
    schedule.problem, schedule.retry_at = "", None
    schedule.next_local = following[0].isoformat(timespec="seconds") if following else ""
    schedule.due_at = following[1] - AHEAD if following else None


def _materialise(schedule: Schedule, *, now: dt.datetime) -> int:
    producer = Producer.objects.filter(id=schedule.producer_id, is_active=True).first()
    body = request.parse(body_of(schedule))
    if producer is None:
        return 0
    if isinstance(body, Problem):
        raise UnreadableSchedule("; ".join([body.detail, *(error.detail for error in body.errors)]))
    zone, time_to_live = zone_of(schedule), _time_to_live(body)
    # Compare local times, because the recipient's timezone may have changed.
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
    paid = _charge(producer, schedule, due, now=now)
    following = following if paid == len(due) else due[paid]
    due = missed + due[:paid]
    _accept(_OccurrenceSource(schedule, _caller(producer, schedule), body, zone), due, now=now)
    if schedule.problem:
        alerts.resolve(AlertKind.SCHEDULE_FAILED, str(schedule.pk))
    set_next_occurrence(schedule, following)
    schedule.save(update_fields=["next_local", "due_at", "problem", "retry_at"])
    return len(due)


@dataclass(frozen=True, slots=True)
class _OccurrenceSource:
    """The request of an occurrence, with schedule, caller and timezone."""

    schedule: Schedule
    caller: Caller
    body: NotificationRequest
    zone: str


def _accept(source: _OccurrenceSource, due: Sequence[Pair], *, now: dt.datetime) -> None:
    """Accept the occurrences.

    Raises:
        _Busy: an ordering key stayed locked, or another release stored an answer.
    """
    if not due:
        return
    answers = accept.accept(source.caller, [_request_at(source.body, at, now=now) for _, at in due])
    rows = []
    for (local, at), answer in zip(due, answers, strict=True):
        if isinstance(answer, Refused) and answer.problem.kind in _TEMPORARY:
            raise _Busy
        rows.append(_occurrence(source, local, at, answer))
    Occurrence.objects.bulk_create(rows)


def _occurrence(
    source: _OccurrenceSource,
    local: dt.datetime,
    at: dt.datetime,
    answer: AcceptedRequest | Refused,
) -> Occurrence:
    row = Occurrence(schedule=source.schedule, local_at=local.isoformat(timespec="seconds"), at=at)
    if isinstance(answer, Refused):
        row.problem = answer.problem.detail[:300]
        return row
    row.notification_id = UUID(answer.response["notification_id"])
    if not source.schedule.timezone:
        Notification.objects.filter(id=row.notification_id).update(
            local_at=local.isoformat(timespec="minutes"), local_zone=source.zone
        )
    return row


def _request_at(
    body: NotificationRequest, at: dt.datetime, *, now: dt.datetime
) -> NotificationRequest:
    """Build the request of an occurrence, with a shortened time to live for a late occurrence."""
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


def _charge(
    producer: Producer, schedule: Schedule, due: Sequence[Pair], *, now: dt.datetime
) -> int:
    """Charge the producer's rate limit; returns the number of occurrences to create now.

    Occurrences within `_SOON` are always created. Later occurrences use at most half of the
    remaining quota, and the rest waits for the next sweep.
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
