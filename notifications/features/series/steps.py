"""Steps: continue due enrolments of a series, in one transaction for each batch.

The transaction locks the enrolments, accepts their messages and stores the new positions. A process
killed before the commit has changed nothing, and no other process sees the rows as due
while they are locked. So a step runs once, in any number of concurrent sweeps.

A batch with an exception is halved until the failing enrolment is alone. The enrolment then keeps
the position, shows the problem, and is tried again after RETRY_AFTER.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError, transaction

from notifications.core.intake import accept
from notifications.core.intake.accept import AcceptedRequest, Refused
from notifications.core.rules import preferences, request
from notifications.core.rules.lane import Priority
from notifications.core.rules.problems import TEMPORARY, Problem
from notifications.core.rules.request import NotificationRequest
from notifications.core.store.cached import notification_types
from notifications.features.series import programs, versions
from notifications.features.series import rows as store
from notifications.features.series.models import Series, SeriesEnrolment
from notifications.features.series.rows import (
    ClaimedEnrolment,
    DueSeries,
    EventQuestion,
    HistoryLine,
    NewPosition,
)
from notifications.features.series.rules import advance
from notifications.features.series.rules.advance import PassedStep, Progress
from notifications.features.series.rules.conditions import EventTest, Facts
from notifications.features.series.rules.definition import WaitStep
from notifications.features.series.rules.program import Program
from notifications.features.series.rules.states import (
    EnrolmentState,
    ExitReason,
    SeriesState,
    StepOutcome,
)

_log = structlog.get_logger(__name__)

RETRY_AFTER: Final = dt.timedelta(minutes=5)
"""Time until the next try of an enrolment after an exception."""
_WAIT: Final = dt.timedelta(minutes=1)
"""Time until the next try of a message refused for the moment without a time."""
_DATABASE_TROUBLE: Final = (OperationalError, InterfaceError)


class BatchResult(NamedTuple):
    """The result of a batch."""

    claimed: int
    failed: int


@dataclass(slots=True)
class _Track:
    """An enrolment during a batch."""

    row: ClaimedEnrolment
    program: Program
    progress: Progress
    facts: Facts
    problem: str = ""
    notifications: dict[int, UUID] = field(default_factory=dict)
    """Index in `progress.passed` -> the accepted notification."""


def run_batch(due: DueSeries, *, now: dt.datetime, limit: int) -> BatchResult:
    """Continue up to `limit` due enrolments of a series.

    Raises:
        OperationalError: the database is away, and no row has changed.
    """
    with transaction.atomic():
        rows = store.claim(due, now=now, limit=limit)
        if not rows:
            return BatchResult(0, 0)
        series = Series.objects.select_related("producer").get(pk=due.id)
        return BatchResult(len(rows), _run_or_halve(series, rows, now))


def _run_or_halve(series: Series, rows: Sequence[ClaimedEnrolment], now: dt.datetime) -> int:
    """Continue enrolments; returns the number of enrolments with an exception."""
    if not rows:
        return 0
    try:
        with transaction.atomic():
            _run(series, rows, now)
    except _DATABASE_TROUBLE:
        raise
    except Exception as error:  # noqa: BLE001 - an enrolment with any exception must not stop others
        if len(rows) == 1:
            _log.exception("enrolment_failed", enrolment=rows[0].id)
            problem = (
                f"{type(error).__name__}: {error}" if _is_ours(error) else type(error).__name__
            )
            SeriesEnrolment.objects.filter(pk=rows[0].id).update(
                problem=problem[:300], due_at=now + RETRY_AFTER
            )
            return 1
        half = len(rows) // 2
        return _run_or_halve(series, rows[:half], now) + _run_or_halve(series, rows[half:], now)
    return 0


def _is_ours(error: Exception) -> bool:
    """Return True for an exception with a text without values of a recipient."""
    return isinstance(error, programs.UnreadableDefinition)


def _run(series: Series, rows: Sequence[ClaimedEnrolment], now: dt.datetime) -> None:
    tracks = _tracks(series, rows)
    for track in tracks:
        if track.row.series_state == SeriesState.ARCHIVED:
            track.progress.leave(ExitReason.ARCHIVED)
        else:
            _advance(track, now)
            _leave_if_unsubscribed(track)
    _send(series, [each for each in tracks if each.progress.send is not None], now)
    _store(tracks, now)


def _tracks(series: Series, rows: Sequence[ClaimedEnrolment]) -> list[_Track]:
    """Read the facts of a batch with a statement for events and a statement for messages."""
    of_row = {row.id: programs.of_version(row.version_id) for row in rows}
    asked: list[tuple[ClaimedEnrolment, bool, EventTest]] = []
    for row in rows:
        asked += [(row, False, test) for test in of_row[row.id].tests]
        step = of_row[row.id].steps.get(row.position)
        if isinstance(step, WaitStep) and step.until_event and step.until_event.since == "step":
            asked.append((row, True, step.until_event.test))
    answers = store.events(series.producer_id, [_question(*each) for each in asked])
    statuses = _message_statuses(rows, of_row)
    tracks = {
        row.id: _Track(
            row,
            of_row[row.id],
            Progress(row.position, row.arrived_at, row.context),
            Facts({}, statuses.get(row.id, {}), {}),
        )
        for row in rows
    }
    for (row, is_arrived, test), answer in zip(asked, answers, strict=True):
        if answer is not None:
            facts = tracks[row.id].facts
            tracks[row.id].facts = (
                facts._replace(arrived={**facts.arrived, test: answer})
                if is_arrived
                else facts._replace(events={**facts.events, test: answer})
            )
    return list(tracks.values())


def _question(row: ClaimedEnrolment, is_arrived: bool, test: EventTest) -> EventQuestion:  # noqa: FBT001 - one private flag
    if is_arrived:
        return EventQuestion(row.recipient_id, test, row.arrived_at, 0)
    return EventQuestion(row.recipient_id, test, row.counts_from, row.after_event)


def _message_statuses(
    rows: Sequence[ClaimedEnrolment], of_row: dict[int, Program]
) -> dict[int, dict[str, Any]]:
    """Return, by enrolment, the statuses of the messages that conditions ask for."""
    wanted = [row.id for row in rows if of_row[row.id].messages]
    positions = {each for row in rows for each in of_row[row.id].messages}
    found: dict[int, dict[str, Any]] = {}
    if wanted:
        for (enrolment, position), those in store.message_statuses(wanted, positions).items():
            name = of_row[enrolment].messages.get(position)
            if name is not None:
                found.setdefault(enrolment, {})[name] = those
    return found


def _advance(track: _Track, now: dt.datetime) -> None:
    advance.advance(
        track.progress, track.program, track.facts, timezone=track.row.timezone, now=now
    )


def _leave_if_unsubscribed(track: _Track) -> None:
    """End an enrolment if the recipient has switched off the topic of the next message."""
    step = track.progress.send
    if step is None:
        return
    rule = notification_types.every().get(step.type)
    priority = step.priority
    if priority is None:
        priority = rule.priority if rule else Priority.P3
    topics = rule.topics(step.type) if rule else (step.type,)
    off = frozenset(track.row.topics_off)
    if preferences.declines(off, frozenset(), topics=topics, priority=priority):
        track.progress.leave(ExitReason.UNSUBSCRIBED)


def _send(series: Series, tracks: Sequence[_Track], now: dt.datetime) -> None:
    """Accept the messages of a batch, and go on to the next message, wait or end."""
    asked = [_request_of(series, track) for track in tracks]
    good = [each for each in asked if isinstance(each, NotificationRequest)]
    caller = versions.caller_of(series.producer, series.mode)
    answers = iter(accept.accept(caller, good)) if good else iter(())
    for track, each in zip(tracks, asked, strict=True):
        answer = Refused(each) if isinstance(each, Problem) else next(answers)
        _finish_send(track, answer, now)


def _request_of(series: Series, track: _Track) -> NotificationRequest | Problem:
    step, row = track.progress.send, track.row
    assert step is not None  # noqa: S101 - for mypy: the caller selects these tracks
    body = step.to_body()
    body["user_id"] = row.user_id
    body["variables"] = {**track.progress.context, **step.variables}
    body["metadata"] = {"series": series.name, "series_step": step.name, **step.metadata}
    return request.own(f"series-{row.id}{track.progress.position}", body)


def _finish_send(track: _Track, answer: AcceptedRequest | Refused, now: dt.datetime) -> None:
    progress, step = track.progress, track.progress.send
    assert step is not None  # noqa: S101 - as in `_request_of`
    if isinstance(answer, AcceptedRequest):
        track.notifications[len(progress.passed)] = UUID(answer.response["notification_id"])
        outcome = PassedStep(progress.position, StepOutcome.SENT)
    else:
        problem = answer.problem
        if problem.kind in TEMPORARY:
            track.problem, progress.send = problem.detail, None
            progress.due_at = now + (problem.retry_after or _WAIT)
            return
        outcome = PassedStep(progress.position, StepOutcome.REJECTED, problem.detail)
    if outcome.outcome is StepOutcome.REJECTED and step.on_rejected == "exit":
        progress.passed.append(outcome)
        progress.leave(ExitReason.REJECTED)  # at this step, where the figures count the exit
        return
    progress.finish_step(track.program, outcome=outcome, now=now)
    _go_on(track, now)


def _go_on(track: _Track, now: dt.datetime) -> None:
    """Advance to the next wait or end; the next message is due now, in another batch."""
    _advance(track, now)
    if track.progress.send is not None:
        track.progress.due_at = now


def _store(tracks: Sequence[_Track], now: dt.datetime) -> None:
    history = {
        track.row.id: [
            HistoryLine(
                track.row.results + number,
                each.position,
                each.outcome,
                each.detail,
                track.notifications.get(number),
            )
            for number, each in enumerate(track.progress.passed)
        ]
        for track in tracks
    }
    store.store([_new_position(each) for each in tracks], history, now=now)


def _new_position(track: _Track) -> NewPosition:
    progress, row = track.progress, track.row
    ending = progress.ending
    return NewPosition(
        id=row.id,
        position=progress.position,
        arrived_at=progress.arrived_at,
        due_at=None if ending else progress.due_at,
        context=progress.context,
        results=row.results + len(progress.passed),
        problem=track.problem,
        state=ending.state if ending else EnrolmentState.RUNNING,
        exit_reason=ending.reason if ending else None,
    )
