"""Enrolments of series: claims, facts, new positions, and the history of the steps."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

from notifications.core.rules.states import Status
from notifications.core.store.postgres import db, id_ranges
from notifications.core.store.postgres.db import Rows
from notifications.features.series.models import SeriesStepResult
from notifications.features.series.rules.conditions import EventTest, MessageStatus
from notifications.features.series.rules.states import (
    EnrolmentState,
    ExitReason,
    SeriesState,
    StepOutcome,
)

_LONGEST_DETAIL: Final = 300
_ALWAYS: Final = dt.datetime(9999, 12, 31, tzinfo=dt.UTC)
"""Later than each due time: an archived series has only due enrolments."""


class DueSeries(NamedTuple):
    """A series with due enrolments."""

    id: int
    state: SeriesState


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedEnrolment:
    """A due enrolment, locked by the open transaction."""

    id: int
    version_id: int
    recipient_id: int
    user_id: str
    position: str
    arrived_at: dt.datetime
    context: Mapping[str, Any]
    counts_from: dt.datetime
    after_event: int
    results: int
    series_state: str
    timezone: str
    """Empty if unknown."""
    topics_off: Collection[str]
    """Topics that the recipient switched off on each channel."""


class EventQuestion(NamedTuple):
    """The question whether an event happened to a recipient after an instant."""

    recipient_id: int
    test: EventTest
    since: dt.datetime
    after: int


class HistoryLine(NamedTuple):
    """A line of the history of an enrolment."""

    number: int
    position: str
    outcome: StepOutcome
    detail: str = ""
    notification_id: UUID | None = None


class NewPosition(NamedTuple):
    """The new state of an enrolment."""

    id: int
    position: str
    arrived_at: dt.datetime
    due_at: dt.datetime | None
    """None: the enrolment has ended."""
    context: Mapping[str, Any]
    results: int
    problem: str = ""
    state: EnrolmentState = EnrolmentState.RUNNING
    exit_reason: ExitReason | None = None


class NewEnrolment(NamedTuple):
    """A recipient to enrol."""

    recipient_id: int
    user_id: str
    context: Mapping[str, Any]
    counts_from: dt.datetime | None = None
    """None: now."""
    after: int = 0
    """Id of the custom event that enrols."""


def due(now: dt.datetime) -> list[DueSeries]:
    """Return the series with due enrolments, longest due first."""
    rows = db.rows("series_due", {"now": now})
    return [DueSeries(row["id"], SeriesState(row["state"])) for row in rows]


def claim(series: DueSeries, *, now: dt.datetime, limit: int) -> list[ClaimedEnrolment]:
    """Lock and return due enrolments of a series until the end of the open transaction."""
    until = _ALWAYS if series.state is SeriesState.ARCHIVED else now
    parameters = {"series": series.id, "until": until, "limit": limit}
    return [ClaimedEnrolment(**row) for row in db.rows("series_claim", parameters)]


def events(producer_id: int, questions: Sequence[EventQuestion]) -> list[Mapping[str, Any] | None]:
    """Return the properties of the newest event per question; None without an event."""
    answers: list[Mapping[str, Any] | None] = [None] * len(questions)
    if not questions:
        return answers
    parameters = {
        "producer": producer_id,
        "numbers": list(range(len(questions))),
        "recipients": [each.recipient_id for each in questions],
        "names": [each.test.event for each in questions],
        "wheres": [json.dumps(dict(each.test.where)) for each in questions],
        "since": [each.since for each in questions],
        "after": [each.after for each in questions],
    }
    for row in db.rows("series_events", parameters):
        answers[row["number"]] = row["properties"]
    return answers


def message_statuses(
    enrolments: Collection[int], positions: Collection[str]
) -> dict[tuple[int, str], frozenset[MessageStatus]]:
    """Return the statuses of sent messages, by enrolment and position of the send step."""
    history = SeriesStepResult.objects.filter(
        enrolment_id__in=enrolments, position__in=positions, notification_id__isnull=False
    )
    sent = list(history.values_list("notification_id", flat=True))
    if not sent:
        return {}
    parameters = {
        **id_ranges.around([each for each in sent if each is not None]),
        "enrolments": list(enrolments),
        "positions": list(positions),
        "delivered": Status.DELIVERED,
        "read": Status.READ,
    }
    return {
        (row["enrolment_id"], row["position"]): _statuses(row["status"], clicked=row["clicked"])
        for row in db.rows("series_messages", parameters)
    }


def _statuses(status: int, *, clicked: bool) -> frozenset[MessageStatus]:
    found = {MessageStatus.CLICKED} if clicked else set()
    if status == Status.READ:
        found.add(MessageStatus.READ)
    if status in {Status.READ, Status.DELIVERED}:
        found.add(MessageStatus.DELIVERED)
    return frozenset(found)


def store(
    positions: Sequence[NewPosition],
    history: Mapping[int, Sequence[HistoryLine]],
    *,
    now: dt.datetime,
) -> None:
    """Store new positions and history lines of locked enrolments, all or none."""
    columns = ("enrolment_id", "number", "position", "outcome", "notification_id", "detail", "at")
    records = [
        (
            enrolment_id,
            line.number,
            line.position,
            line.outcome.value,
            line.notification_id,
            line.detail[:_LONGEST_DETAIL],
            now,
        )
        for enrolment_id, lines in history.items()
        for line in lines
    ]
    db.insert(Rows("series_step_result", columns, records))
    parameters = {
        "now": now,
        "ids": [each.id for each in positions],
        "positions": [each.position for each in positions],
        "arrived_at": [each.arrived_at for each in positions],
        "due_at": [each.due_at for each in positions],
        "contexts": [json.dumps(each.context) for each in positions],
        "results": [each.results for each in positions],
        "problems": [each.problem[:_LONGEST_DETAIL] for each in positions],
        "states": [each.state.value for each in positions],
        "exit_reasons": [each.exit_reason.value if each.exit_reason else "" for each in positions],
    }
    if positions:
        db.run("series_move", parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPoint:
    """The first step of an enrolment, with series and version."""

    series_id: int
    version_id: int
    position: str
    is_once: bool
    """True: a recipient is enrolled once."""


def enrol(entry: EntryPoint, wanted: Sequence[NewEnrolment], *, by: str) -> dict[int, int]:
    """Enrol recipients, each at most once in `wanted`; returns recipient -> new enrolment."""
    if not wanted:
        return {}
    parameters = {
        "series": entry.series_id,
        "version": entry.version_id,
        "position": entry.position,
        "once": entry.is_once,
        "by": by,
        "recipients": [each.recipient_id for each in wanted],
        "user_ids": [each.user_id for each in wanted],
        "contexts": [json.dumps(each.context) for each in wanted],
        "counts_from": [each.counts_from for each in wanted],
        "after": [each.after for each in wanted],
    }
    return {row["recipient_id"]: row["id"] for row in db.rows("series_enrol", parameters)}


def forget(*, before: dt.datetime, limit: int) -> int:
    """Delete the histories of up to `limit` enrolments that ended before an instant."""
    return db.run("series_forget", {"before": before, "limit": limit})
