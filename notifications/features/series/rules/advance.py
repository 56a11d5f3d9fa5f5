"""Advance: from a position and facts to the next message, wait or end.

A run of `advance` passes conditions and ended waits, and stops at a send step, at a wait or at the
end. The goal is checked first, so no message follows a goal that is known.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, assert_never

from notifications.core.rules.times import local_time
from notifications.core.rules.times.quiet_hours import Weekday
from notifications.features.series.rules.conditions import Facts, holds
from notifications.features.series.rules.definition import (
    ConditionStep,
    ExitStep,
    SendStep,
    WaitStep,
)
from notifications.features.series.rules.program import END, Program
from notifications.features.series.rules.states import EnrolmentState, ExitReason, StepOutcome

_DAY: Final = dt.timedelta(days=1)
_INSTANT: Final = dt.timedelta(microseconds=1)
_WEEK: Final = tuple(Weekday)


class PassedStep(NamedTuple):
    """A line of the history."""

    position: str
    outcome: StepOutcome
    detail: str = ""


class EnrolmentEnd(NamedTuple):
    """The end of an enrolment."""

    state: EnrolmentState
    reason: ExitReason | None = None


@dataclass(slots=True)
class Progress:
    """An enrolment in progress through the steps."""

    position: str
    arrived_at: dt.datetime
    context: Mapping[str, Any]
    passed: list[PassedStep] = field(default_factory=list)
    due_at: dt.datetime | None = None
    """The end of the present wait."""
    send: SendStep | None = None
    """The message of the present step."""
    ending: EnrolmentEnd | None = None
    has_moved: bool = False
    """True after a step: events since the arrival at an earlier step do not count."""

    def finish_step(self, program: Program, *, outcome: PassedStep, now: dt.datetime) -> None:
        """Go to the step that follows the present step."""
        self._go(program.after[self.position], outcome, now)

    def branch(
        self, program: Program, step: ConditionStep, *, is_true: bool, now: dt.datetime
    ) -> None:
        """Go to the first step of a branch of a condition."""
        steps, word = (step.then, "then") if is_true else (step.otherwise, "else")
        target = f"{self.position}/{word}/0" if steps else program.after[self.position]
        outcome = StepOutcome.THEN if is_true else StepOutcome.ELSE
        self._go(target, PassedStep(self.position, outcome), now)

    def leave(self, reason: ExitReason, detail: str = "") -> None:
        """End the enrolment before the last step."""
        self.passed.append(PassedStep(self.position, StepOutcome.EXITED, detail or reason.value))
        self.send, self.due_at = None, None
        self.ending = EnrolmentEnd(EnrolmentState.EXITED, reason)

    def _go(self, target: str, outcome: PassedStep, now: dt.datetime) -> None:
        self.passed.append(outcome)
        self.position, self.arrived_at, self.send = target, now, None
        self.has_moved = True


def advance(
    progress: Progress, program: Program, facts: Facts, *, timezone: str, now: dt.datetime
) -> None:
    """Pass all steps that end now; stop at a message, a wait or the end.

    Args:
        progress: changed in place.
        program: of the version of the enrolment.
        facts: answers to `program.tests` and `program.messages`.
        timezone: of the recipient; empty: UTC.
        now: the present.
    """
    goal = program.definition.goal
    if goal is not None and goal.test in facts.events:
        progress.leave(ExitReason.GOAL)
    now_there = _Present(program, facts, timezone, now)
    while progress.ending is None and _pass_step(progress, now_there):
        pass


class _Present(NamedTuple):
    """The arguments of `advance` beside the progress."""

    program: Program
    facts: Facts
    timezone: str
    now: dt.datetime


def _pass_step(progress: Progress, at: _Present) -> bool:
    """Pass the present step; returns False if the enrolment stops at the step."""
    if progress.position == END:
        progress.ending = EnrolmentEnd(EnrolmentState.FINISHED)
        return False
    step = at.program.steps[progress.position]
    match step:
        case SendStep():
            progress.send = step
            return False
        case WaitStep():
            return _pass_wait(progress, step, at)
        case ConditionStep():
            is_true = holds(step.condition, at.facts)
            progress.branch(at.program, step, is_true=is_true, now=at.now)
        case ExitStep():
            progress.leave(ExitReason.STEP, step.reason)
        case _:
            assert_never(step)
    return True


def _pass_wait(progress: Progress, step: WaitStep, at: _Present) -> bool:
    """Pass an ended wait; returns False for a running wait."""
    event = _event_of(step, at.facts, has_moved=progress.has_moved)
    ends_at = end_of_wait(step, arrived_at=progress.arrived_at, timezone=at.timezone)
    if event is None and ends_at > at.now:
        progress.due_at = ends_at
        return False
    if event is not None:
        progress.context = {**progress.context, **event}
    word = StepOutcome.WAITED if event is None else StepOutcome.EVENT
    progress.finish_step(at.program, outcome=PassedStep(progress.position, word), now=at.now)
    return True


def _event_of(step: WaitStep, facts: Facts, *, has_moved: bool) -> Mapping[str, Any] | None:
    """Return the properties of the event at the end of a wait; None without an event."""
    if step.until_event is None:
        return None
    if step.until_event.since == "enrolment":
        return facts.events.get(step.until_event.test)
    return None if has_moved else facts.arrived.get(step.until_event.test)


def end_of_wait(step: WaitStep, *, arrived_at: dt.datetime, timezone: str) -> dt.datetime:
    """Return the instant at which a wait ends, in UTC.

    The duration counts from the arrival at the step. `until_local` follows: the first instant at or
    after the duration at which the clock of the recipient shows the time, on a permitted weekday. A
    time that a change of the clock skips is the first instant after the gap; a repeated time is the
    first of both instants.

    Args:
        step: the wait.
        arrived_at: the arrival at the step.
        timezone: of the recipient; empty: UTC.
    """
    earliest = arrived_at + step.duration
    if step.until_local is None:
        return earliest
    zone = local_time.zone(timezone)
    wall = local_time.next_time(
        dt.time.fromisoformat(step.until_local), zone=zone, after=earliest - _INSTANT
    )
    while step.weekdays and _WEEK[wall.weekday()] not in step.weekdays:
        wall += _DAY
    return local_time.first(wall, zone=zone)
