"""The plots of the monitoring pages, each from the roll-ups of a scope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from notifications.admin.monitoring.answer import Limit, Plot, Series
from notifications.admin.monitoring.group_names import GroupNames
from notifications.admin.monitoring.scope import Points, Scope
from notifications.rules.lane import Priority
from notifications.rules.rollups import Dimension
from notifications.rules.service_levels import PUNCTUAL, URGENT_MS

_COLOURS: Final = "123456"
"""Colours of the groups of a plot, one for each group; further groups are added up, where the sum
has a meaning."""
FAILURE_COLOURS: Final = "526341"
"""The same for failures: red first."""
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
            values=_sums(found[metric].only for metric in metrics),
            colour=colour,
            hatched=hatched,
        )
        for name, metrics, colour, hatched in _OUTCOMES
    ]
    return _plot(found["sent"], series, type="bar", total="sum")


def latency(scope: Scope) -> Plot:
    """The p99 from acceptance to the first provider call, by priority, with the service levels."""
    points = scope.lines("accept_to_call_p99", Dimension.PRIORITY)
    found = {Priority(int(key[0])): values for key, values in points.groups.items() if key}
    series = [
        Series(name=each.name, values=_seconds(found[each]), colour=str(each + 1))
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
    return _plot(points, series, unit="seconds", limits=limits, logarithmic=True)


def share_by(scope: Scope, metric: str, dimension: Dimension, names: GroupNames) -> Plot:
    """A share over time, with a line for each value of a dimension."""
    points = scope.lines(metric, dimension)
    return _plot(points, list(_series(points, dimension, names)), unit="share")


def percentile_by(scope: Scope, metric: str, dimension: Dimension, names: GroupNames) -> Plot:
    """A latency over time, with a line for each value of a dimension."""
    points = scope.lines(metric, dimension)
    series = [
        Series(name=each.name, values=_seconds(each.values), colour=each.colour)
        for each in _series(points, dimension, names)
    ]
    return _plot(points, series, unit="seconds", logarithmic=True)


def counts_by(
    scope: Scope,
    metric: str,
    dimension: Dimension,
    names: GroupNames,
    *,
    unit: str = "count",
    colours: str = _COLOURS,
) -> Plot:
    """A count over time as bars, divided by the values of a dimension."""
    points = scope.counts(metric, dimension)
    series = list(_with_others(points, dimension, names, colours))
    return _plot(points, series, type="bar", total="sum", unit=unit)


def call_latency(scope: Scope) -> Plot:
    """The time from a provider call to its answer: p50, p95 and p99."""
    colours = {"p50": "1", "p95": "2", "p99": "5"}
    found = {share: scope.lines(f"call_to_answer_{share}") for share in colours}
    series = [
        Series(name=share, values=_seconds(points.only), colour=colours[share])
        for share, points in found.items()
    ]
    return _plot(found["p99"], series, unit="seconds", logarithmic=True)


def reactions(scope: Scope) -> Plot:
    """Delivered, read and clicked deliveries, at the time of the receipt."""
    found = {metric: scope.counts(metric) for metric in ("delivered", "read", "clicked")}
    series = [
        Series(name=metric.capitalize(), values=points.only, colour=str(number))
        for number, (metric, points) in enumerate(found.items(), start=1)
    ]
    return _plot(found["delivered"], series, total="sum")


def _series(
    points: Points, dimension: Dimension, names: GroupNames, colours: str = _COLOURS
) -> Iterator[Series]:
    """Yield the groups with the highest totals."""
    groups = [(key, values) for key, values in points.groups.items() if any(values)]
    for colour, (key, values) in zip(colours, groups, strict=False):
        name = names.name(dimension, key[0]) if key else "all"
        yield Series(name=name, values=values, colour=colour)


def _with_others(
    points: Points, dimension: Dimension, names: GroupNames, colours: str
) -> Iterator[Series]:
    """Yield the same, and the sum of the other groups."""
    yield from _series(points, dimension, names, colours)
    rest = [values for values in points.groups.values() if any(values)][len(colours) :]
    if rest:
        yield Series(name=f"{len(rest)} others", values=_sums(rest), colour="waiting")


def _plot(points: Points, series: list[Series], **options: Any) -> Plot:  # noqa: ANN401 - the options of Plot
    return Plot(series=series, at=points.at, step=points.step, **options)


def _sums(lists: Iterable[Sequence[float | None]]) -> list[float | None]:
    return [sum(filter(None, values)) for values in zip(*lists, strict=True)]


def _level(priority: Priority) -> float:
    """Return the service level of a priority in seconds."""
    if priority is Priority.P0:
        return URGENT_MS / _MILLISECONDS
    return PUNCTUAL[priority][1].total_seconds()


def _seconds(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None else value / _MILLISECONDS for value in values]
