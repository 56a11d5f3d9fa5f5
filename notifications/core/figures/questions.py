"""Questions about the roll-ups, and the answers.

A question reads one cube: the step of the buckets, and the smallest dimension set with the asked
dimensions. A question without a step asks for totals only and reads the longest step that fits the
interval.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any, Final, NoReturn, TypeAlias

from django.db.models import Q, Sum
from psycopg.types.json import Jsonb

from notifications.core.figures.metrics import METRICS, Count, Metric, Percentile, Rate
from notifications.core.models import Rollup
from notifications.core.rules import rollups
from notifications.core.rules.lane import Mode
from notifications.core.rules.rollups import Counter, Cube, Dimension, DimensionSet, Step
from notifications.core.store.postgres import db

MOST_POINTS: Final = 10_000
"""Most values of an answer: groups times buckets."""
_MOST_SKETCHES: Final = 2 * MOST_POINTS
"""Most sketches that are read for an answer: one for each value and one for each group."""
MOST_DIMENSIONS: Final = 2
"""Most dimensions to group by."""

Value: TypeAlias = "int | str"
"""A stored value of a dimension: numbers for channel, priority, version, producer and mode."""
Key: TypeAlias = "tuple[Value, ...]"
_Sums: TypeAlias = "dict[Counter, int]"


class QuestionError(ValueError):
    """The question has no answer; the message names the fault and the remedy."""

    def __init__(self, about: str, message: str) -> None:
        """Name the faulty part of the question, such as `step`."""
        super().__init__(message)
        self.about = about


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A metric over time.

    Raises:
        QuestionError: an unknown metric, too many dimensions, an empty interval, or buckets that
            are no longer kept.
    """

    metric: str
    """A name of `metrics.METRICS`."""
    start: dt.datetime
    """Rounded down to a bucket."""
    end: dt.datetime
    """Exclusive; rounded up to a bucket."""
    by: tuple[Dimension, ...] = ()
    step: Step | None = None
    """None: totals only."""
    filters: Mapping[Dimension, Value] = field(default_factory=dict)
    """Without `mode` among filters and `by`: live."""
    now: dt.datetime
    """Time of the question: an end in the present minute or later is the end of all figures."""

    def __post_init__(self) -> None:
        """Check the question.

        Raises:
            QuestionError: see the class.
        """
        if self.metric not in METRICS:
            known = ", ".join(sorted(METRICS))
            raise QuestionError("metric", f"there is no metric {self.metric!r}; choose of {known}")
        if len(self.by) > MOST_DIMENSIONS or len(set(self.by)) < len(self.by):
            raise QuestionError("by", f"group by up to {MOST_DIMENSIONS} different dimensions")
        if self.start >= self.end:
            raise QuestionError("from", "the start lies at or after the end")
        oldest = self.reads.oldest(self.now)
        if self.reads.floor(self.start) < oldest:
            raise QuestionError(
                "from",
                f"{self.reads} buckets are kept for {self.reads.retention.days} days, since"
                f" {oldest:%Y-%m-%d}; choose a longer step or a later start",
            )
        if self.step and (self.end - self.start) / self.step.length > MOST_POINTS:
            raise QuestionError("step", _too_many(self.step))

    @property
    def dimension_set(self) -> DimensionSet:
        """The dimension set of the cube that the question reads."""
        return rollups.smallest_set(
            frozenset(self.by) | frozenset(self.scope),
            step=self.step,
            latencies=isinstance(METRICS[self.metric].source, Percentile),
        )

    @property
    def reads(self) -> Step:
        """The step of the cube that the question reads."""
        if self.step is not None:
            return self.step
        has_all = _ceiling(Step.MINUTE, self.end) >= self.now
        steps = self.dimension_set.steps
        fitting = (
            each
            for each in reversed(steps)
            if each.floor(self.start) == self.start
            and (has_all or each.floor(self.end) == self.end)
        )
        return next(fitting, steps[0])

    @property
    def scope(self) -> dict[Dimension, Value]:
        """The filters, with the default mode."""
        chosen = dict(self.filters)
        if Dimension.MODE not in chosen and Dimension.MODE not in self.by:
            chosen[Dimension.MODE] = int(Mode.LIVE)
        return chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The values of a group."""

    key: Key
    """Stored values in the order of `by`; empty without grouping."""
    total: float | None
    """Over the whole interval; None: nothing to divide, or no latency."""
    values: list[float | None]
    """One value for each bucket of the answer; empty for a question without a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The groups of a question, those with the highest total first."""

    question: Question
    metric: Metric
    buckets: list[dt.datetime]
    """Start of each bucket in UTC; empty for a question without a step."""
    groups: list[Group]


def ask(question: Question) -> Answer:
    """Answer a question from the roll-ups.

    Raises:
        QuestionError: the answer has more than MOST_POINTS values.
    """
    metric = METRICS[question.metric]
    reads = question.reads
    start, end = reads.floor(question.start), _ceiling(reads, question.end)
    cube = Cube(reads, question.dimension_set)
    buckets = list(_buckets(question.step, start, end)) if question.step else []
    if isinstance(metric.source, Percentile):
        found = _percentiles(question, metric.source, cube, start, end)
    else:
        found = _sums(question, metric.source, cube, start, end)
    if not question.by and not found:
        found[()] = {}
    if len(found) * max(len(buckets), 1) > MOST_POINTS:
        _refuse(question, groups=len(found))
    empty = 0.0 if isinstance(metric.source, Count) else None
    groups = [
        Group(
            key=key,
            total=values.get(None, empty),
            values=[values.get(each, empty) for each in buckets],
        )
        for key, values in found.items()
    ]
    groups.sort(key=lambda each: (-(each.total or 0), [str(part) for part in each.key]))
    return Answer(question=question, metric=metric, buckets=buckets, groups=groups)


_Values: TypeAlias = "dict[dt.datetime | None, float | None]"
"""Bucket to value; None to the total."""


def _sums(
    question: Question, source: Count | Rate, cube: Cube, start: dt.datetime, end: dt.datetime
) -> dict[Key, _Values]:
    counters = _counters(source)
    columns = [f"series__{each.column}" for each in question.by]
    scope: dict[Dimension, Value] = dict(question.scope)
    if not any(each.has_reason for each in counters):
        scope[Dimension.REASON] = scope.get(Dimension.REASON, "")
    rows = (
        Rollup.objects
        .filter(
            reduce(or_, (Q((f"{each.value}__isnull", False)) for each in counters)),
            cube=cube.number,
            bucket__gte=start,
            bucket__lt=end,
            **{f"series__{name.column}": value for name, value in scope.items()},
        )
        .order_by()
        .values_list("bucket" if question.step else "cube", *columns)
        .annotate(*[Sum(each.value) for each in counters])
    )[: MOST_POINTS + 1]
    if len(rows) > MOST_POINTS:
        _refuse(question)
    found: dict[Key, _Values] = defaultdict(dict)
    totals: dict[Key, _Sums] = defaultdict(lambda: dict.fromkeys(counters, 0))
    for row in rows:
        key, numbers = row[1 : 1 + len(columns)], row[1 + len(columns) :]
        sums = {each: int(value or 0) for each, value in zip(counters, numbers, strict=True)}
        if not any(sums.values()):
            continue
        for each, value in sums.items():
            totals[key][each] += value
        if question.step:
            found[key][row[0]] = _value(source, sums)
    for key, sums in totals.items():
        found[key][None] = _value(source, sums)
    return found


def _counters(source: Count | Rate) -> list[Counter]:
    if isinstance(source, Count):
        return [source.counter]
    return list(dict.fromkeys([*source.part, *source.whole]))


def _value(source: Count | Rate, sums: _Sums) -> float | None:
    if isinstance(source, Count):
        value = sums[source.counter]
        return value if source.divisor == 1 else value / source.divisor
    whole = sum(sums[each] for each in source.whole)
    return min(sum(sums[each] for each in source.part) / whole, 1.0) if whole else None


def _percentiles(
    question: Question, source: Percentile, cube: Cube, start: dt.datetime, end: dt.datetime
) -> dict[Key, _Values]:
    parameters: dict[str, Any] = {
        "cube": cube.number,
        "dimension_set": int(cube.dimension_set),
        "kind": int(source.latency),
        "start": start,
        "end": end,
        "by": [each.column for each in question.by],
        "filters": Jsonb({name.column: value for name, value in question.scope.items()}),
        "totals_only": question.step is None,
        "limit": _MOST_SKETCHES + 1,
    }
    rows = db.rows("rollup_percentiles", parameters)
    if len(rows) > _MOST_SKETCHES:
        _refuse(question)
    places: dict[int, _Values] = defaultdict(dict)
    for row in rows:
        places[row["place"]][row["bucket"]] = rollups.percentile(row["sketch"], source.share)
    return {tuple(row["key"]): places[row["place"]] for row in rows if row["key"] is not None}


def _buckets(step: Step, start: dt.datetime, end: dt.datetime) -> Iterable[dt.datetime]:
    while start < end:
        yield start
        start += step.length


def _ceiling(step: Step, instant: dt.datetime) -> dt.datetime:
    floor = step.floor(instant)
    return floor if floor == instant else floor + step.length


def _too_many(step: Step) -> str:
    return (
        f"an answer has at most {MOST_POINTS} values, and the interval has more by {step};"
        " choose a longer step, a shorter interval, or a filter"
    )


def _refuse(question: Question, *, groups: int = 0) -> NoReturn:
    """Refuse an answer with more than MOST_POINTS values.

    Args:
        question: the question.
        groups: the number of groups; 0: they were not counted.

    Raises:
        QuestionError: always.
    """
    of_groups = f"{groups} groups" if groups else "the groups"
    if question.step is None:
        about, by, first = "by", "in total", "fewer dimensions"
    else:
        about, by, first = "step", f"by {question.step}", "a longer step"
    raise QuestionError(
        about,
        f"an answer has at most {MOST_POINTS} values, and {of_groups} have more {by};"
        f" choose {first}, a shorter interval, or a filter",
    )
