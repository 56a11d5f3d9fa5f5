"""The steps of a series in words, for operators.

1          Send WELCOME with the template welcome.
2          Wait 1 day, then until 09:00 of the recipient's clock.
3          If the message welcome is read:
3 then 1   Send WELCOME with the template tips.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, assert_never

from notifications.features.series.rules.conditions import (
    AllOf,
    AnyOf,
    Condition,
    EventCondition,
    EventMatch,
    MessageCondition,
    Not,
)
from notifications.features.series.rules.definition import (
    ConditionStep,
    Definition,
    ExitStep,
    SendStep,
    Step,
    WaitStep,
)
from notifications.features.series.rules.program import END, Program
from notifications.features.series.rules.states import ExitReason, Reentry, StepOutcome

_STEP: Final = re.compile(r"/steps/[0-9]+(?:/(?:then|else)/[0-9]+)*")
_HOUR: Final = 3_600
_MINUTE: Final = 60
_REASONS: Final[Mapping[ExitReason, str]] = {
    ExitReason.GOAL: "reached the goal",
    ExitReason.UNSUBSCRIBED: "unsubscribed",
    ExitReason.REQUESTED: "ended by the producer or an operator",
    ExitReason.ARCHIVED: "the series was archived",
    ExitReason.STEP: "came to an exit step",
    ExitReason.REJECTED: "a message was rejected",
}
_OUTCOMES: Final[Mapping[StepOutcome, str]] = {
    StepOutcome.SENT: "message accepted",
    StepOutcome.REJECTED: "message rejected",
    StepOutcome.WAITED: "wait ended by its time",
    StepOutcome.EVENT: "wait ended by its event",
    StepOutcome.THEN: "condition true",
    StepOutcome.ELSE: "condition false",
    StepOutcome.EXITED: "left the series",
}


class StepText(NamedTuple):
    """A step in words."""

    position: str
    """JSON pointer of the step."""
    number: str
    """Place for readers: `3 then 1`."""
    name: str
    """Empty for a step without a name."""
    text: str
    """A sentence; of a condition, the beginning of a sentence."""


def steps(program: Program) -> list[StepText]:
    """Return the steps in the order of the definition."""
    return [
        StepText(position, number(position), step.name or "", _text(step))
        for position, step in program.steps.items()
    ]


def entry(definition: Definition) -> str:
    """Return the entry of a series as sentences."""
    trigger = definition.trigger
    start = (
        f"{_capital(_event(trigger))} enrols the recipient."
        if trigger
        else "Calls of the API enrol recipients."
    )
    if definition.reentry is Reentry.NEVER:
        return f"{start} A recipient is enrolled once."
    return f"{start} After the end of an enrolment a recipient is enrolled again."


def goal(definition: Definition) -> str:
    """Return the goal of a series as a phrase; empty without a goal."""
    return _event(definition.goal) if definition.goal else ""


def number(position: str) -> str:
    """Return a position for readers: `/steps/2/then/0` is `3 then 1`."""
    if position == END:
        return "end"
    parts = position.removeprefix("/steps/").split("/")
    return " ".join(str(int(part) + 1) if part.isdecimal() else part for part in parts)


def place(pointer: str) -> str:
    """Return a place in a definition for readers: `step 3 then 1, template_id`."""
    found = _STEP.match(pointer)
    step = f"step {number(found[0])}" if found else ""
    rest = pointer[len(found[0]) if found else 0 :].strip("/").replace("/", " ")
    return ", ".join(filter(None, (step, rest)))


def reason(exit_reason: str) -> str:
    """Return the cause of an exit in words."""
    return _REASONS[ExitReason(exit_reason)]


def outcome(word: str) -> str:
    """Return the result of a step in words."""
    return _OUTCOMES[StepOutcome(word)]


def _text(step: Step) -> str:
    match step:
        case SendStep():
            return _send(step)
        case WaitStep():
            return _wait(step)
        case ConditionStep():
            return f"If {_condition(step.condition)}:"
        case ExitStep():
            return f"End the enrolment{f' ({step.reason})' if step.reason else ''}."
        case _:
            assert_never(step)


def _send(step: SendStep) -> str:
    channels = ", ".join(each.label for each in step.channels)
    by = f" by {channels}" if channels else ""
    priority = f", {step.priority.name}" if step.priority is not None else ""
    after = "; a rejection ends the enrolment" if step.on_rejected == "exit" else ""
    return f"Send {step.type}{priority} with the template {step.template_id}{by}{after}."


def _wait(step: WaitStep) -> str:
    parts = []
    if step.duration:
        parts.append(_duration(step.duration))
    if step.until_local is not None:
        days = ", ".join(each.capitalize() for each in step.weekdays)
        on = f" on {days}" if days else ""
        parts.append(f"until {step.until_local} of the recipient's clock{on}")
    text = f"Wait {', then '.join(parts)}"
    if step.until_event is not None:
        since = " after the beginning of the wait" if step.until_event.since == "step" else ""
        text += f", or until {_event(step.until_event)}{since}"
    return f"{text}."


def _duration(duration: dt.timedelta) -> str:
    hours, rest = divmod(duration.seconds, _HOUR)
    counts = ((duration.days, "day" if duration.days == 1 else "days"), (hours, "h"))
    return " ".join(
        f"{count} {unit}" for count, unit in (*counts, (rest // _MINUTE, "min")) if count
    )


def _condition(condition: Condition) -> str:
    match condition:
        case MessageCondition():
            return f"the message {condition.message} is {condition.status}"
        case EventCondition():
            return f"{_event(condition)} was posted"
        case AllOf():
            return ", and ".join(map(_inside, condition.all_of))
        case AnyOf():
            return ", or ".join(map(_inside, condition.any_of))
        case Not():
            return f"not {_inside(condition.negated)}"
        case _:
            assert_never(condition)


def _inside(condition: Condition) -> str:
    text = _condition(condition)
    return f"({text})" if isinstance(condition, AllOf | AnyOf) else text


def _event(match: EventMatch) -> str:
    values = " and ".join(f"{name} = {_value(value)}" for name, value in match.where.items())
    return f"the event {match.event}{f' with {values}' if values else ''}"


def _value(value: Any) -> str:  # noqa: ANN401 - any JSON scalar
    words: Mapping[Any, str] = {None: "null", True: "true", False: "false"}
    return words[value] if value is None or isinstance(value, bool) else str(value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
