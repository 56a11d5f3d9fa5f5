"""Figures: the number of enrolments by state, step, version and cause of the exit, and failures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from django.db.models import Count

from notifications.features.series.models import SeriesEnrolment, SeriesStepResult
from notifications.features.series.rules.states import EnrolmentState, StepOutcome

_SEARCHED: Final = 1_000
"""Latest rejected messages of all series, among which the messages of a series are found."""


@dataclass(slots=True)
class Figures:
    """The enrolments of a series."""

    by_state: Counter[str] = field(default_factory=Counter)
    """State -> enrolments; each state is present."""
    by_step: Counter[str] = field(default_factory=Counter)
    """Position of a step -> running enrolments."""
    by_version: defaultdict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Version id -> position of a step -> running enrolments."""
    by_exit: Counter[str] = field(default_factory=Counter)
    """Cause of the exit -> enrolments."""
    ended: defaultdict[int, Counter[tuple[str, str]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    """Version id -> (position of the last step, cause of the exit) -> ended enrolments; the cause
    is empty after the last step of the series."""


def of_series(series_ids: Collection[int]) -> dict[int, Figures]:
    """Return the figures of each series, from the index enrolment_figures."""
    empty = {state.value: 0 for state in EnrolmentState}
    found = {each: Figures(Counter(empty)) for each in series_ids}
    rows = (
        SeriesEnrolment.objects
        .filter(series__in=series_ids)
        .order_by()
        .values_list("series_id", "state", "version_id", "position", "exit_reason")
        .annotate(count=Count("*"))
    )
    for series_id, state, version_id, position, exit_reason, count in rows:
        figures = found[series_id]
        figures.by_state[state] += count
        if state == EnrolmentState.RUNNING:
            figures.by_step[position] += count
            figures.by_version[version_id][position] += count
            continue
        figures.ended[version_id][position, exit_reason] += count
        if state == EnrolmentState.EXITED:
            figures.by_exit[exit_reason] += count
    return found


def find_delays(series_id: int, *, limit: int) -> list[SeriesEnrolment]:
    """Return the newest enrolments with a delayed step, from the index enrolment_delayed."""
    rows = SeriesEnrolment.objects.filter(series=series_id).exclude(problem="")
    return list(rows.select_related("version").order_by("-id")[:limit])


def find_rejections(series_id: int, *, limit: int) -> list[SeriesStepResult]:
    """Return the latest rejected messages of a series, among the latest of all series.

    The index step_rejected serves the query; other series do not make the query slow.
    """
    lines = SeriesStepResult.objects.filter(outcome=StepOutcome.REJECTED).order_by("-id")
    latest = list(lines.values_list("id", flat=True)[:_SEARCHED])
    mine = SeriesStepResult.objects.filter(id__in=latest, enrolment__series=series_id)
    return list(mine.select_related("enrolment__version").order_by("-id")[:limit])
