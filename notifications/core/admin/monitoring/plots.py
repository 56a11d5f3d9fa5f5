"""The plots of the monitoring pages, each from the roll-ups of a scope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from notifications.core.admin.monitoring.answer import Limit, Plot, Series
from notifications.core.admin.monitoring.group_names import GroupNames
from notifications.core.admin.monitoring.scope import Points, Scope
from notifications.core.rules.lane import Priority
from notifications.core.rules.rollups import Dimension
from notifications.core.rules.service_levels import PUNCTUAL, URGENT_MS

COLOURS: Final = "123456"
"""Colours of the groups of a plot, one for each group."""
_MILLISECONDS: Final = 1000
_OUTCOMES: Final = (
    ("Sent", ("sent",), "sent", False),
    ("Not sent: opted out, capped, cancelled", ("suppressed", "cancelled"), "waiting", False),
    ("Expired", ("expired",), "retry", True),
    ("Bounced", ("bounced",), "stopped", True),
    ("Failed", ("failed",), "failed", True),
)
"""Series of the traffic: name, metrics, colour, hatched."""


_LEVEL_NAMES: Final = {
    Priority.P0: "level of P0",
    Priority.P1: "level of P1",
    Priority.P2: "level of P2 and P3",
}


def traffic(scope: Scope) -> Plot:
    """Deliveries by outcome, at the time of the outcome."""
    found = {metric: scope.counts(metric) for _, metrics, *_ in _OUTCOMES for metric in metrics}
    series = [
        Series(
            name=name,
            values=sums(found[metric].only for metric in metrics),
            colour=colour,
            hatched=hatched,
        )
        for name, metrics, colour, hatched in _OUTCOMES
    ]
    return plot_of(found["sent"], series, type="bar", total="sum")


def latency(scope: Scope) -> Plot:
    """The p99 from acceptance to the first provider call, by priority, with the service levels."""
    points = scope.lines("accept_to_call_p99", Dimension.PRIORITY)
    found = {Priority(int(key[0])): values for key, values in points.groups.items() if key}
    series = [
        Series(name=each.name, values=seconds(found[each]), colour=str(each + 1))
        for each in Priority
        if each in found
    ]
    limits = [
        Limit(
            name=_LEVEL_NAMES[each],
            value=_level(each),
            colour=str(each + 1),
        )
        for each in _LEVEL_NAMES
        if series
    ]
    return plot_of(points, series, unit="seconds", limits=limits, logarithmic=True)


def share_by(scope: Scope, metric: str, dimension: Dimension, names: GroupNames) -> Plot:
    """A share over time, with a line for each value of a dimension."""
    points = scope.lines(metric, dimension)
    return plot_of(points, list(series_by(points, dimension, names)), unit="share")


def percentile_by(scope: Scope, metric: str, dimension: Dimension, names: GroupNames) -> Plot:
    """A latency over time, with a line for each value of a dimension."""
    points = scope.lines(metric, dimension)
    series = [
        Series(name=each.name, values=seconds(each.values), colour=each.colour)
        for each in series_by(points, dimension, names)
    ]
    return plot_of(points, series, unit="seconds", logarithmic=True)


def series_by(
    points: Points, dimension: Dimension, names: GroupNames, colours: str = COLOURS
) -> Iterator[Series]:
    """Yield the groups with the highest totals."""
    groups = [(key, values) for key, values in points.groups.items() if any(values)]
    for colour, (key, values) in zip(colours, groups, strict=False):
        name = names.name(dimension, key[0]) if key else "all"
        yield Series(name=name, values=values, colour=colour)


def plot_of(points: Points, series: list[Series], **options: Any) -> Plot:  # noqa: ANN401 - the options of Plot
    """Return a plot of the series at the times of the points."""
    return Plot(series=series, at=points.at, step=points.step, **options)


def sums(lists: Iterable[Sequence[float | None]]) -> list[float | None]:
    """Return the sum at each time; a missing value counts as 0."""
    return [sum(filter(None, values)) for values in zip(*lists, strict=True)]


def _level(priority: Priority) -> float:
    """Return the service level of a priority in seconds."""
    if priority is Priority.P0:
        return URGENT_MS / _MILLISECONDS
    return PUNCTUAL[priority][1].total_seconds()


def seconds(values: Sequence[float | None]) -> list[float | None]:
    """Return milliseconds as seconds."""
    return [None if value is None else value / _MILLISECONDS for value in values]
