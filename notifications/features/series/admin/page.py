"""The page of a series: figures, the picture of a version, versions, failures.

The figures come from `figures`, with three queries for any number of enrolments; the words come
from `rules.wording`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from notifications.core.admin import recipient_names
from notifications.core.rules.problems import Problem
from notifications.core.store.postgres import audit
from notifications.features.series import figures, versions
from notifications.features.series.admin import picture
from notifications.features.series.figures import Figures
from notifications.features.series.models import (
    Series,
    SeriesEnrolment,
    SeriesStepResult,
    SeriesVersion,
)
from notifications.features.series.rules import definition, program, wording
from notifications.features.series.rules.program import Program
from notifications.features.series.rules.states import EnrolmentState, SeriesState

FAILURES: Final = 20
"""Delayed steps, and rejected messages, on the page."""
HISTORY: Final = 20
"""Audit entries on the page; the audit log has all."""
_LONGEST_NUMBER: Final = 9
"""Digits of the number of a version."""
_VERSIONS: Final = 50
"""Latest versions on the page, beside the versions with running enrolments."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version with the number of enrolments on the version."""

    version: SeriesVersion
    running: int
    word: str
    """`current`, `draft` or `older`."""


@dataclass(frozen=True, slots=True)
class StepFailure:
    """A delayed step or a rejected message."""

    enrolment: SeriesEnrolment
    person: str
    """The name of the recipient."""
    step: str
    detail: str


def context(series: Series, *, asked: str, may_see_people: bool) -> dict[str, Any]:
    """Return the values of the page.

    Args:
        series: with `producer` and `current`.
        asked: number of the version of the picture; without such a version the version for new
            enrolments, or the first draft.
        may_see_people: False leaves out the failures, which name recipients.
    """
    found = figures.of_series([series.pk])[series.pk]
    current = read(series.current) if series.current else None
    shown = _version(series, asked)
    program = current if shown == series.current else shown and read(shown)
    return {
        "series": series,
        "running": found.by_state[EnrolmentState.RUNNING],
        "finished": found.by_state[EnrolmentState.FINISHED],
        "exited": found.by_state[EnrolmentState.EXITED],
        "exits": [(wording.reason(cause), count) for cause, count in sorted(found.by_exit.items())],
        "is_moving": series.state in {SeriesState.ACTIVE, SeriesState.PAUSED},
        "facts": list(_facts(series, current)),
        "shown": shown,
        "picture": picture.of(
            program, title=f"Version {shown.number}", version_id=shown.pk, found=found
        )
        if shown and program
        else None,
        "unreadable": raw(shown) if shown and program is None else "",
        "versions": list(_version_rows(series, found)),
        "may_see_people": may_see_people,
        "delayed": list(_delays(series)) if may_see_people else [],
        "rejected": list(_rejections(series)) if may_see_people else [],
        "history": list(audit.of_object(series)[:HISTORY]),
    }


def read(version: SeriesVersion) -> Program | None:
    """Return the program of a version; None for a definition unreadable in the release."""
    parsed = definition.parse(version.definition)
    return None if isinstance(parsed, Problem) else program.compile_definition(parsed)


def raw(version: SeriesVersion) -> str:
    """Return a definition as JSON."""
    return json.dumps(version.definition, ensure_ascii=False, indent=2)


def step_of(version: SeriesVersion, position: str) -> str:
    """Return number and name of a step: `3 then 1 (tips)`."""
    shown = wording.number(position)
    found = read(version)
    step = found.steps.get(position) if found else None
    return f"{shown} ({step.name})" if step is not None and step.name else shown


def _facts(series: Series, current: Program | None) -> Iterator[tuple[str, str]]:
    yield "Producer", f"{series.producer.name}, {series.get_mode_display()} mode"
    if current is not None:
        if current.definition.description:
            yield "Description", current.definition.description
        yield "Entry", wording.entry(current.definition)
        if goal := wording.goal(current.definition):
            yield "Goal", f"{goal}; the enrolment ends without a further message"
    yield "Created", f"{series.created_at:%Y-%m-%d %H:%M:%S} UTC"


def _version(series: Series, asked: str) -> SeriesVersion | None:
    """Return the asked version, the current version, or the draft of a new series."""
    if asked.isascii() and asked.isdecimal() and len(asked) <= _LONGEST_NUMBER:
        found = series.versions.filter(number=int(asked)).first()
        if found is not None:
            return found
    return series.current or versions.draft_of(series)


def _version_rows(series: Series, found: Figures) -> Iterator[VersionRow]:
    """Yield the latest versions, and older versions with running enrolments, newest first."""
    latest = set(series.versions.order_by("-number").values_list("id", flat=True)[:_VERSIONS])
    shown = series.versions.filter(id__in=latest | found.by_version.keys()).order_by("-number")
    for version in shown:
        word = "older"
        if version.published_at is None:
            word = "draft"
        elif version.pk == series.current_id:
            word = "current"
        yield VersionRow(version, sum(found.by_version.get(version.pk, {}).values()), word)


def _delays(series: Series) -> Iterator[StepFailure]:
    for row in figures.find_delays(series.pk, limit=FAILURES):
        yield StepFailure(row, _person(row), step_of(row.version, row.position), row.problem)


def _rejections(series: Series) -> Iterator[tuple[SeriesStepResult, StepFailure]]:
    for line in figures.find_rejections(series.pk, limit=FAILURES):
        row = line.enrolment
        yield line, StepFailure(row, _person(row), step_of(row.version, line.position), line.detail)


def _person(row: SeriesEnrolment) -> str:
    return recipient_names.name(row.recipient_id, row.user_id)
