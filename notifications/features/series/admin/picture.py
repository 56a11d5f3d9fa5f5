"""The picture of a version: the steps with their branches, and the enrolments at each step.

The template `series/picture.html` draws nested lists, so the picture is text for screen readers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from notifications.features.series.figures import Figures
from notifications.features.series.rules import wording
from notifications.features.series.rules.definition import ConditionStep, Step
from notifications.features.series.rules.program import Program
from notifications.features.series.rules.states import ExitReason
from notifications.features.series.rules.wording import StepText

_SYMBOLS: Final = {
    "send": "send",
    "wait": "schedule",
    "condition": "alt_route",
    "exit": "stop_circle",
}
"""Kind of a step -> icon."""


@dataclass(frozen=True, slots=True)
class StepCounts:
    """Enrolments of a version at a step."""

    here: int = 0
    goal: int = 0
    """Ended at the step by the goal."""
    failed: int = 0
    """Ended at the step by a rejected message."""
    other: int = 0
    """Ended at the step by another cause: an exit step, an unsubscribe, a call."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a condition."""

    label: str
    steps: Sequence[PictureStep]


@dataclass(frozen=True, slots=True)
class PictureStep:
    """A step of the picture."""

    kind: str
    symbol: str
    said: StepText
    counts: StepCounts
    branches: Sequence[Branch]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A version as a picture."""

    caption: str
    entry: str
    goal: str
    """The event as a phrase; empty without a goal."""
    steps: Sequence[PictureStep]
    has_counts: bool
    finished: int
    """Ended after the last step."""
    by_goal: int
    """Ended by the goal, at all steps."""


def of(
    program: Program, *, title: str, version_id: int = 0, found: Figures | None = None
) -> Picture:
    """Return the picture of a program.

    Args:
        program: the compiled definition.
        title: the beginning of the caption.
        version_id: the version with the enrolments.
        found: figures of the series; None: a picture without numbers.
    """
    counts = _counts(found, version_id) if found else {}
    texts = {each.position: each for each in wording.steps(program)}
    by_goal = sum(each.goal for each in counts.values())
    ended = found.ended.get(version_id) if found else None
    finished = sum(count for (_, cause), count in (ended or {}).items() if not cause)
    caption = f"{title}: {len(texts)} step{'' if len(texts) == 1 else 's'}"
    if found:
        running = sum(each.here for each in counts.values())
        caption += f", {running:,} in progress, {finished:,} finished"
        if program.definition.goal:
            caption += f", {by_goal:,} left by the goal"
    return Picture(
        caption=caption,
        entry=wording.entry(program.definition),
        goal=wording.goal(program.definition),
        steps=list(_steps(program.definition.steps, "/steps", texts, counts)),
        has_counts=found is not None,
        finished=finished,
        by_goal=by_goal,
    )


def _counts(found: Figures, version_id: int) -> dict[str, StepCounts]:
    here = found.by_version.get(version_id, Counter())
    ended = found.ended.get(version_id, Counter())
    known = {ExitReason.GOAL.value, ExitReason.REJECTED.value, ""}
    causes = {cause for _, cause in ended} - known
    return {
        position: StepCounts(
            here=here[position],
            goal=ended[position, ExitReason.GOAL],
            failed=ended[position, ExitReason.REJECTED],
            other=sum(ended[position, cause] for cause in causes),
        )
        for position in {*here, *(position for position, _ in ended)}
    }


def _steps(
    steps: Sequence[Step],
    base: str,
    texts: Mapping[str, StepText],
    counts: Mapping[str, StepCounts],
) -> Iterator[PictureStep]:
    for number, step in enumerate(steps):
        position = f"{base}/{number}"
        branches: list[Branch] = []
        if isinstance(step, ConditionStep):
            parts = (("Then", "then", step.then), ("Else", "else", step.otherwise))
            branches = [
                Branch(label, list(_steps(those, f"{position}/{word}", texts, counts)))
                for label, word, those in parts
            ]
        yield PictureStep(
            kind=step.step,
            symbol=_SYMBOLS[step.step],
            said=texts[position],
            counts=counts.get(position, StepCounts()),
            branches=branches,
        )
