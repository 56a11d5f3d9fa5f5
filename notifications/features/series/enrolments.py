"""Enrolments: enrol recipients in a series, and end an enrolment before the last step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from django.db import transaction

from notifications.core import clock
from notifications.core.models import Recipient
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.features.series import programs
from notifications.features.series import rows as store
from notifications.features.series.models import Series, SeriesEnrolment
from notifications.features.series.rows import EntryPoint, HistoryLine, NewEnrolment, NewPosition
from notifications.features.series.rules.program import FIRST
from notifications.features.series.rules.states import (
    EnrolmentState,
    ExitReason,
    Reentry,
    SeriesState,
    StepOutcome,
)

MAX_AT_ONCE: Final = 1_000
"""Recipients that a call can enrol."""
TAKING: Final = (SeriesState.ACTIVE, SeriesState.PAUSED)
"""States in which a series takes enrolments."""


class Enrolled(StrEnum):
    """The result for a recipient."""

    ENROLLED = "enrolled"
    """The recipient is enrolled."""
    UNCHANGED = "unchanged"
    """The recipient is in the series, or was before and the series has `reentry: never`."""
    REJECTED = "rejected"
    """The recipient is unknown."""


class Person(NamedTuple):
    """A recipient to enrol."""

    user_id: str
    context: Mapping[str, Any]


class EnrolResult(NamedTuple):
    """The result for a recipient, with the id of a new enrolment or the problem."""

    result: Enrolled
    enrolment_id: int | None = None
    problem: Problem | None = None


def enrol(series: Series, people: Sequence[Person], *, by: str) -> list[EnrolResult] | Problem:
    """Enrol recipients; returns the results in order. Safe to run twice.

    A second entry of a recipient has no effect.
    """
    if series.state not in TAKING or series.current_id is None:
        detail = f"the series is {series.state} and takes no enrolments"
        return Problem(Kind.CONFLICT, detail)
    names = {each.user_id for each in people}
    known = dict(
        Recipient.objects.filter(mode=series.mode, user_id__in=names).values_list("user_id", "id")
    )
    first = {each.user_id: each for each in reversed(people) if each.user_id in known}
    wanted = [
        NewEnrolment(known[name], name, first[name].context)
        for name in dict.fromkeys(each.user_id for each in people)
        if name in first
    ]
    made = store.enrol(entry_point(series), wanted, by=by)
    results: list[EnrolResult] = []
    for person in people:
        if person.user_id not in known:
            results.append(EnrolResult(Enrolled.REJECTED, problem=_unknown(series)))
            continue
        enrolment_id = made.pop(known[person.user_id], None)
        word = Enrolled.UNCHANGED if enrolment_id is None else Enrolled.ENROLLED
        results.append(EnrolResult(word, enrolment_id))
    return results


def entry_point(series: Series) -> EntryPoint:
    """Return where an enrolment in the current version begins."""
    assert series.current_id is not None  # noqa: S101 - for mypy: a series that takes enrolments has a version
    program = programs.of_version(series.current_id)
    return EntryPoint(
        series_id=series.pk,
        version_id=series.current_id,
        position=FIRST,
        is_once=program.definition.reentry is Reentry.NEVER,
    )


def leave(enrolment_id: int, *, by: str) -> bool:
    """End a running enrolment; returns False for an ended enrolment. Safe to run twice.

    The call waits for a running step, and the message of the running step is sent.
    """
    with transaction.atomic():
        rows = SeriesEnrolment.objects.select_for_update(no_key=True)
        row = rows.filter(pk=enrolment_id, ended_at=None).first()
        if row is None:
            return False
        position = NewPosition(
            id=row.pk,
            position=row.position,
            arrived_at=row.arrived_at,
            due_at=None,
            context=row.context,
            results=row.results + 1,
            state=EnrolmentState.EXITED,
            exit_reason=ExitReason.REQUESTED,
        )
        line = HistoryLine(row.results, row.position, StepOutcome.EXITED, f"by {by}")
        store.store([position], {row.pk: [line]}, now=clock.now())
    return True


def _unknown(series: Series) -> Problem:
    mode = Mode(series.mode).label
    detail = (
        f"unknown user_id in {mode} mode; create the recipient with PUT /v1/recipients/{{user_id}}"
    )
    return Problem(Kind.UNKNOWN_RECIPIENT, detail, (FieldError("/user_id", detail),))
