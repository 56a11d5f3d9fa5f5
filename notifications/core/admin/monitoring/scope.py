"""A scope: the part of the traffic that a page shows, and its figures over a time range.

The roll-ups have minutes, hours and days. Counts of short steps are added up to the step of the
time range. Shares and percentiles cannot be added: a plot of shares has the points of the roll-ups.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from notifications.core.figures import questions
from notifications.core.figures.questions import Answer, Key, Question, QuestionError, Value
from notifications.core.rules.rollups import Dimension, Step
from notifications.core.rules.times.time_range import TimeRange
from notifications.core.store.postgres import replica

Values = dict[Key, list[float | None]]
"""Values of each group, the group with the highest total first."""

_MINUTE_POINTS: Final = dt.timedelta(hours=7)
"""Longest range with figures of each minute."""
_HOUR_POINTS: Final = dt.timedelta(days=8)
_MINUTES_KEPT: Final = dt.timedelta(days=2, hours=23)
_HOURS_KEPT: Final = dt.timedelta(days=99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """The beginnings of the points of a plot, and the groups."""

    at: Sequence[dt.datetime]
    step: dt.timedelta
    groups: Values

    @property
    def only(self) -> list[float | None]:
        """The values of a question without groups."""
        return next(iter(self.groups.values()), [None] * len(self.at))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Filters and time of a page."""

    range: TimeRange
    now: dt.datetime
    """Time of the request: all figures of a page have the same steps."""
    filters: Mapping[Dimension, Value] = field(default_factory=dict)

    def counts(self, metric: str, *by: Dimension) -> Points:
        """Return counts for the bars of a plot."""
        return _merge(self._points(metric, by), self.range.step)

    def lines(self, metric: str, *by: Dimension) -> Points:
        """Return shares or percentiles for the lines of a plot."""
        return self._points(metric, by)

    def totals(self, metric: str, *by: Dimension) -> dict[Key, float]:
        """Return the total of each group, the highest first; groups without a value are left out.

        Raises:
            QuestionError: the metric is unknown.
        """
        found = _ask(self._question(metric, by, None))
        return {each.key: each.total for each in found.groups if each.total is not None}

    def total(self, metric: str) -> float | None:
        """Return the total without groups; None without a value."""
        return self.totals(metric).get(())

    def sums(self, metrics: Iterable[str], *by: Dimension) -> dict[Key, float]:
        """Return the sum of several totals of each group, the highest first."""
        added: dict[Key, float] = defaultdict(float)
        for metric in metrics:
            for key, value in self.totals(metric, *by).items():
                added[key] += value
        return dict(sorted(added.items(), key=lambda pair: -pair[1]))

    def sum_of(self, metrics: Iterable[str]) -> float | None:
        """Return the sum of several totals without groups; None without a value."""
        return self.sums(metrics).get(())

    def before(self) -> Scope | None:
        """Return the scope of the equally long time before; None: figures are deleted."""
        span = self.range.until - self.range.since
        earlier = TimeRange(since=self.range.since - span, until=self.range.since)
        is_kept = earlier.since >= Step.DAY.oldest(self.now)
        return replace(self, range=earlier) if is_kept else None

    def narrow(self, **filters: Value) -> Scope:
        """Return the scope with further filters, by the names of dimensions."""
        more = {Dimension(name): value for name, value in filters.items()}
        return replace(self, filters={**self.filters, **more})

    def _points(self, metric: str, by: tuple[Dimension, ...]) -> Points:
        try:
            found = _ask(self._question(metric, by, self._step))
        except QuestionError:
            # More groups than a plot can show: the plot has the sum of all groups.
            found = _ask(self._question(metric, (), self._step))
        groups = {each.key: each.values for each in found.groups}
        return Points(at=found.buckets, step=self._step.length, groups=groups)

    def _question(self, metric: str, by: tuple[Dimension, ...], step: Step | None) -> Question:
        return Question(
            metric=metric,
            # Whole buckets, also without a step: else the answer would add minutes up.
            start=self._step.floor(self.range.since),
            end=self._step.floor(self.range.until) + self._step.length,
            by=by,
            step=step,
            filters=self.filters,
            now=self.now,
        )

    @property
    def _step(self) -> Step:
        """The shortest step with kept buckets that are not too many."""
        span, age = self.range.until - self.range.since, self.now - self.range.since
        if span <= _MINUTE_POINTS and age < _MINUTES_KEPT:
            return Step.MINUTE
        if span <= _HOUR_POINTS and age < _HOURS_KEPT:
            return Step.HOUR
        return Step.DAY


def _ask(question: Question) -> Answer:
    return replica.read(lambda: questions.ask(question))


def _merge(points: Points, step: dt.timedelta) -> Points:
    """Add the points of each longer step up."""
    if step <= points.step or not points.at:
        return points
    epoch = points.at[0].replace(month=1, day=1, hour=0, minute=0)
    places = [(at - epoch) // step for at in points.at]
    first, count = places[0], places[-1] - places[0] + 1
    groups: Values = {}
    for key, values in points.groups.items():
        sums = [0.0] * count
        for place, value in zip(places, values, strict=True):
            sums[place - first] += value or 0
        groups[key] = list(sums)
    at = [epoch + (first + number) * step for number in range(count)]
    return Points(at=at, step=step, groups=groups)
