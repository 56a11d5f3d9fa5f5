"""The answer that a monitoring page loads every few seconds: plots, annotations and parts.

    {"at": ..., "range": {...}, "plots": {name: plot}, "annotations": [...], "parts": {name: html}}

A plot has the beginning of each point (`at`, in milliseconds), and the values of each series. A
part is a piece of HTML that replaces the same piece of the page; templates escape every text. A
part is left out for an operator without the right to view its model.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.http import HttpRequest
from django.template.loader import render_to_string

from notifications.core import clock
from notifications.core.rules.times.time_range import TimeRange
from notifications.core.store.cached import shared_answers
from notifications.core.store.postgres import plot_annotations
from notifications.core.store.postgres.plot_annotations import Annotation, Kind

NOW_SECONDS: Final = 3.0
"""Age at which figures of the present are read again."""
_RIGHTS: Final = {
    Kind.DEPLOY: "view_deploy",
    Kind.TEMPLATE: "view_templateevent",
    Kind.BREAKER: "view_breakerevent",
    Kind.SWITCH: "view_switch",
    Kind.SETTINGS: "view_auditentry",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A line, or the part of each bar, of a plot."""

    name: str
    values: Sequence[float | None]
    """A value for each point; None where the point has none."""
    colour: str
    """A colour of page.css, such as `failed` or `1`."""
    hatched: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the series for the page."""
        return {
            "name": self.name,
            "values": self.values,
            "colour": self.colour,
            "hatched": self.hatched,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A horizontal line, such as a service level."""

    name: str
    value: float
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A plot of series over the time range."""

    series: Sequence[Series]
    at: Sequence[dt.datetime]
    """The beginning of each point."""
    step: dt.timedelta
    type: str = "line"
    """`line` or `bar`; bars are stacked."""
    unit: str = "count"
    """`count`, `seconds`, `share`, or `money:EUR`."""
    total: str = "last"
    """The number in the legend: `sum` of all points, or the `last` one."""
    limits: Sequence[Limit] = ()
    logarithmic: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the plot for the page."""
        return {
            "type": self.type,
            "unit": self.unit,
            "total": self.total,
            "logarithmic": self.logarithmic,
            "step": self.step.total_seconds() * 1000,
            "at": [at.timestamp() * 1000 for at in self.at],
            "series": [series.as_json() for series in self.series],
            "limits": [
                {"name": each.name, "value": each.value, "colour": each.colour}
                for each in self.limits
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of the page."""

    name: str
    """Name of the place in the page."""
    right: str
    """Codename of the permission, such as `view_alert`; empty: the page's own right is enough."""
    context: Mapping[str, Any]
    template: str = ""
    """Path of the template; empty: that of the name below `admin/monitoring/parts`."""

    def html(self, shared: Mapping[str, Any]) -> str:
        """Render the part."""
        template = self.template or f"admin/monitoring/parts/{self.name}.html"
        return render_to_string(template, {**shared, **self.context})


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Everything that a page shows of a time range, for operators with every right."""

    plots: Mapping[str, Plot] = field(default_factory=dict)
    parts: Iterable[Part] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rendered:
    plots: Mapping[str, dict[str, Any]]
    parts: Mapping[str, tuple[str, str]]
    """Name -> right and HTML."""
    annotations: Sequence[Annotation]
    at: str
    range: Mapping[str, Any]


def build(
    request: HttpRequest,
    time_range: TimeRange,
    *,
    key: object,
    read: Callable[[TimeRange], Figures],
    subject: str = "",
) -> dict[str, Any]:
    """Return the answer for an operator; operators share the work of the same page and range.

    Args:
        request: the request of the operator.
        time_range: the time of the plots.
        key: names the page and the page's subject.
        read: reads the figures of the page.
        subject: template, or provider and channel, whose annotations are drawn; empty: all.
    """
    rendered = shared_answers.get(
        (key, time_range.query),
        lambda: _render(time_range, read(time_range), subject=subject),
        seconds=_seconds(time_range),
    )
    allowed = {kind for kind, right in _RIGHTS.items() if _may(request, right)}
    seen = [each for each in rendered.annotations if each.kind in allowed]
    parts = {name: html for name, (right, html) in rendered.parts.items() if _may(request, right)}
    changes = Part(name="changes", right="", context={"annotations": seen[:_LISTED]})
    return {
        "at": rendered.at,
        "range": rendered.range,
        "plots": rendered.plots,
        "annotations": [
            {"at": each.at.isoformat(), "kind": each.kind, "label": each.label} for each in seen
        ],
        "parts": parts | {"changes": changes.html({"range": time_range})},
    }


_LISTED: Final = 12


def _concerns(annotation: Annotation, subject: str) -> bool:
    """Return True for a change of the subject, of one of its channels, or of everything."""
    if not subject or annotation.subject in {"", subject}:
        return True
    return annotation.subject.startswith(f"{subject} ")


def first_parts(
    request: HttpRequest, time_range: TimeRange, parts: Iterable[Part]
) -> dict[str, str]:
    """Return the HTML of parts that a page shows before its first answer."""
    shared = {"range": time_range, "now": clock.now()}
    return {part.name: part.html(shared) for part in parts if _may(request, part.right)}


def _seconds(time_range: TimeRange) -> float:
    """Return how long an answer is kept: a point of a long range changes slowly."""
    return max(NOW_SECONDS, min(60.0, time_range.step.total_seconds() / 100))


def _may(request: HttpRequest, right: str) -> bool:
    return not right or bool(request.user.has_perm(f"notifications.{right}"))


def _render(time_range: TimeRange, figures: Figures, *, subject: str) -> _Rendered:
    found = plot_annotations.within(time_range.since, time_range.until)
    shared = {"range": time_range, "now": clock.now()}
    return _Rendered(
        plots={name: plot.as_json() for name, plot in figures.plots.items()},
        parts={part.name: (part.right, part.html(shared)) for part in figures.parts},
        annotations=[each for each in found if _concerns(each, subject)],
        at=clock.now().isoformat(),
        range={
            "since": time_range.since.isoformat(),
            "until": time_range.until.isoformat(),
            "name": time_range.name,
            "is_live": time_range.is_live,
            "sentence": time_range.sentence,
        },
    )
