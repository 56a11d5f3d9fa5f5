"""Custom events: store posted events, enrol by trigger events and wake enrolments.

A posted event is committed first and handled by the sweep `series` afterwards, in a separate
transaction. Handling an event twice has no effect: the unique indexes refuse a second enrolment,
and a woken enrolment waits again until the end of the wait. An event with an exception is tried
again after RETRY_AFTER until GIVE_UP_AFTER, and stops no other event.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

import structlog
from django.db import InterfaceError, OperationalError, ProgrammingError, transaction

from notifications.core import clock
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.features.series import enrolments, event_rows, programs
from notifications.features.series import rows as store
from notifications.features.series.event_rows import UnhandledEvent
from notifications.features.series.models import Series
from notifications.features.series.rows import NewEnrolment
from notifications.features.series.rules.custom_events import CustomEventRequest
from notifications.features.series.steps import RETRY_AFTER, BatchResult

_log = structlog.get_logger(__name__)

_TRIGGER: Final = "an event"
"""`enrolled_by` of an enrolment by a trigger event."""


GIVE_UP_AFTER: Final = dt.timedelta(days=1)
"""Age of an event with exceptions after which it is not tried again: it counts as handled."""


class Posted(StrEnum):
    """The result of a posted event."""

    ACCEPTED = "accepted"
    """The event is stored."""
    DUPLICATE = "duplicate"
    """An event with the idempotency key is stored already."""
    REJECTED = "rejected"
    """The event is invalid or the recipient unknown, and the event is not stored."""


class PostResult(NamedTuple):
    """The result of a posted event, with the problem of a rejected event."""

    result: Posted
    problem: Problem | None = None


def post(
    producer_id: int, mode: Mode, asked: Sequence[CustomEventRequest | Problem]
) -> list[PostResult]:
    """Store events; returns the results in order. A rejected event affects no other event."""
    results: dict[int, PostResult] = {}
    wanted: dict[int, CustomEventRequest] = {}
    keys: set[tuple[str, str]] = set()
    for number, event in enumerate(asked):
        if isinstance(event, Problem):
            results[number] = PostResult(Posted.REJECTED, event)
        elif (event.idempotency_key, event.user_id) in keys:
            results[number] = PostResult(Posted.DUPLICATE)
        else:
            wanted[number] = event
            if event.idempotency_key:
                keys.add((event.idempotency_key, event.user_id))
    added = event_rows.add(producer_id, mode, list(wanted.values()))
    for number, one in zip(wanted, added, strict=True):
        if not one.is_known:
            results[number] = PostResult(Posted.REJECTED, _unknown(mode))
        else:
            results[number] = PostResult(Posted.ACCEPTED if one.is_new else Posted.DUPLICATE)
    return [results[number] for number in range(len(asked))]


def handle_batch(*, limit: int) -> BatchResult:
    """Handle up to `limit` stored events.

    Raises:
        OperationalError: the database is away, and no row has changed.
        ProgrammingError: the code or the schema is wrong, and no row has changed.
    """
    with transaction.atomic():
        events = event_rows.claim(limit=limit)
        failed = _handle_or_halve(events)
        waiting = [each for each in failed if clock.now() - each.received_at < GIVE_UP_AFTER]
        if waiting:
            event_rows.postpone(waiting, wait=RETRY_AFTER)
        if ended := [each for each in events if each not in waiting]:
            event_rows.end(ended)
    return BatchResult(len(events), len(failed))


def _handle_or_halve(events: Sequence[UnhandledEvent]) -> list[UnhandledEvent]:
    """Handle events; returns the events with an exception, which have no effect.

    Raises:
        OperationalError: the database is away.
        InterfaceError: as OperationalError.
        ProgrammingError: the code or the schema is wrong, which no event causes.
    """
    if not events:
        return []
    try:
        with transaction.atomic():
            _enrol_by_trigger(events)
            event_rows.wake(events)
    except (OperationalError, InterfaceError, ProgrammingError):
        raise
    except Exception:  # noqa: BLE001 - an event with any exception must not stop others
        if len(events) == 1:
            _log.exception("custom_event_failed", custom_event=events[0].id)
            return list(events)
        half = len(events) // 2
        return [*_handle_or_halve(events[:half]), *_handle_or_halve(events[half:])]
    return []


def _enrol_by_trigger(events: Sequence[UnhandledEvent]) -> None:
    by_name: dict[tuple[int, int, str], list[UnhandledEvent]] = defaultdict(list)
    for event in events:
        by_name[event.producer_id, event.mode, event.name].append(event)
    triggered = Series.objects.filter(
        trigger_event__in={name for _, _, name in by_name}, state__in=enrolments.TAKING
    )
    for series in triggered.order_by("id"):
        assert series.current_id is not None  # noqa: S101 - for mypy: the trigger is of the current version
        trigger = programs.of_version(series.current_id).definition.trigger
        wanted: dict[int, NewEnrolment] = {}
        for each in by_name.get((series.producer_id, series.mode, series.trigger_event), ()):
            if trigger is not None and trigger.matches(each.name, each.properties):
                new = NewEnrolment(
                    each.recipient_id, each.user_id, each.properties, each.received_at, each.id
                )
                wanted.setdefault(each.recipient_id, new)
        rows = [wanted[recipient] for recipient in sorted(wanted)]
        store.enrol(enrolments.entry_point(series), rows, by=_TRIGGER)


def _unknown(mode: Mode) -> Problem:
    detail = (
        f"unknown user_id in {mode.label} mode; create the recipient with"
        " PUT /v1/recipients/{user_id}"
    )
    return Problem(Kind.UNKNOWN_RECIPIENT, detail, (FieldError("/user_id", detail),))
