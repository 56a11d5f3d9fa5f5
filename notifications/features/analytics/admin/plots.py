"""Plots of Insights and of the pages of subjects, beside those of Overview."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from notifications.core.admin.monitoring import plots
from notifications.core.admin.monitoring.answer import Plot, Series
from notifications.core.admin.monitoring.group_names import GroupNames
from notifications.core.admin.monitoring.scope import Points, Scope
from notifications.core.rules.rollups import Dimension

FAILURE_COLOURS: Final = "526341"
"""Colours of the groups of a plot of failures: red first."""


def counts_by(
    scope: Scope,
    metric: str,
    dimension: Dimension,
    names: GroupNames,
    *,
    unit: str = "count",
    colours: str = plots.COLOURS,
) -> Plot:
    """A count over time as bars, divided by the values of a dimension."""
    points = scope.counts(metric, dimension)
    series = list(_with_others(points, dimension, names, colours))
    return plots.plot_of(points, series, type="bar", total="sum", unit=unit)


def call_latency(scope: Scope) -> Plot:
    """The time from a provider call to its answer: p50, p95 and p99."""
    colours = {"p50": "1", "p95": "2", "p99": "5"}
    found = {share: scope.lines(f"call_to_answer_{share}") for share in colours}
    series = [
        Series(name=share, values=plots.seconds(points.only), colour=colours[share])
        for share, points in found.items()
    ]
    return plots.plot_of(found["p99"], series, unit="seconds", logarithmic=True)


def reactions_of(scope: Scope) -> Plot:
    """Delivered, read and clicked deliveries, at the time of the receipt."""
    found = {metric: scope.counts(metric) for metric in ("delivered", "read", "clicked")}
    series = [
        Series(name=metric.capitalize(), values=points.only, colour=str(number))
        for number, (metric, points) in enumerate(found.items(), start=1)
    ]
    return plots.plot_of(found["delivered"], series, total="sum")


def _with_others(
    points: Points, dimension: Dimension, names: GroupNames, colours: str
) -> Iterator[Series]:
    """Yield the groups with the highest totals, and the sum of the other groups."""
    yield from plots.series_by(points, dimension, names, colours)
    rest = [values for values in points.groups.values() if any(values)][len(colours) :]
    if rest:
        yield Series(name=f"{len(rest)} others", values=plots.sums(rest), colour="waiting")
