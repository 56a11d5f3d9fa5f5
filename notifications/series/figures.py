"""Figures: the number of enrolments by state and by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from django.db.models import Count

from notifications.models import SeriesEnrolment
from notifications.rules.series.states import EnrolmentState


@dataclass(slots=True)
class Figures:
    """The enrolments of a series."""

    by_state: Counter[str] = field(default_factory=Counter)
    """State -> enrolments; each state is present."""
    by_step: Counter[str] = field(default_factory=Counter)
    """Position of a step -> running enrolments."""


def of_series(series_ids: Collection[int]) -> dict[int, Figures]:
    """Return the figures of each series, from the index enrolment_by_step."""
    empty = {state.value: 0 for state in EnrolmentState}
    found = {each: Figures(Counter(empty)) for each in series_ids}
    rows = (
        SeriesEnrolment.objects
        .filter(series__in=series_ids)
        .order_by()
        .values_list("series_id", "state", "position")
        .annotate(count=Count("id"))
    )
    for series_id, state, position, count in rows:
        figures = found[series_id]
        figures.by_state[state] += count
        if state == EnrolmentState.RUNNING:
            figures.by_step[position] += count
    return found
