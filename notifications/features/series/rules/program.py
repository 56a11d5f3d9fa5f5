"""The program of a series: the steps by position, and the position after each step.

A position is a JSON pointer, such as `/steps/2/then/0`. The step after the last step of a branch is
the step after the condition. END is the position after the last step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from notifications.features.series.rules.conditions import (
    EventCondition,
    EventTest,
    MessageCondition,
    leaves,
)
from notifications.features.series.rules.definition import (
    ConditionStep,
    Definition,
    SendStep,
    Step,
    WaitStep,
)

END: Final = ""
"""The position after the last step."""
FIRST: Final = "/steps/0"
"""The position of the first step."""


@dataclass(frozen=True, slots=True)
class Program:
    """A definition with positions."""

    definition: Definition
    steps: Mapping[str, Step]
    after: Mapping[str, str]
    """Position -> position of the following step."""
    tests: frozenset[EventTest]
    """The events since the enrolment that the goal, conditions and waits ask for."""
    messages: Mapping[str, str]
    """Position of a send step that a condition asks for -> name of the step."""

    @property
    def listens(self) -> list[str]:
        """Return the names of the events of the goal and of waits, sorted.

        The names are the same at each step: an event that arrives while the enrolment comes to a
        wait must wake the enrolment too.
        """
        goal = self.definition.goal
        names = {goal.event} if goal else set()
        for step in self.steps.values():
            if isinstance(step, WaitStep) and step.until_event is not None:
                names.add(step.until_event.event)
        return sorted(names)

    def label(self, position: str) -> str:
        """Return the name of a step, or the position of a step without a name."""
        step = self.steps.get(position)
        return (step.name if step is not None else None) or position


def compile_definition(definition: Definition) -> Program:
    """Return the program of a valid definition."""
    steps: dict[str, Step] = {}
    after: dict[str, str] = {}
    for position, step, following in _visit(definition.steps, "/steps", END):
        steps[position], after[position] = step, following
    asked = {
        leaf.message
        for step in steps.values()
        if isinstance(step, ConditionStep)
        for leaf, _ in leaves(step.condition)
        if isinstance(leaf, MessageCondition)
    }
    messages = {
        position: step.name
        for position, step in steps.items()
        if isinstance(step, SendStep) and step.name in asked
    }
    return Program(definition, steps, after, _tests(definition, steps.values()), messages)


def _visit(steps: Sequence[Step], base: str, following: str) -> Iterator[tuple[str, Step, str]]:
    """Yield the position, the step and the next position of each step."""
    for number, step in enumerate(steps):
        position = f"{base}/{number}"
        after = f"{base}/{number + 1}" if number + 1 < len(steps) else following
        yield position, step, after
        if isinstance(step, ConditionStep):
            yield from _visit(step.then, f"{position}/then", after)
            yield from _visit(step.otherwise, f"{position}/else", after)


def _tests(definition: Definition, steps: Iterable[Step]) -> frozenset[EventTest]:
    tests = {definition.goal.test} if definition.goal else set()
    for step in steps:
        if isinstance(step, WaitStep) and step.until_event is not None:
            tests.add(step.until_event.test)
        elif isinstance(step, ConditionStep):
            tests |= {
                leaf.test for leaf, _ in leaves(step.condition) if isinstance(leaf, EventCondition)
            }
    return frozenset(tests)
