"""The report of a day: traffic, failures, cost, latency, dead letters and alerts.

Each figure stands beside the figure of the day before and of the same weekday a week before. Days
are days of UTC and live mode only. The report reads the roll-ups of whole days, so a report of a
million messages costs as much as a report of ten. `manage.py report daily` prints the report.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from notifications.core.figures.metrics import METRICS
from notifications.core.figures.questions import Question, Value, ask
from notifications.core.models import Alert, DeadLetter, Producer
from notifications.core.rules import csv_lines, rollups
from notifications.core.rules.lane import Mode
from notifications.core.rules.rollups import Dimension
from providers.contract import Channel

TOTAL: Final = "all"
COLUMNS: Final = ("day", "group", "name", "figure", "unit", "value", "day_before", "week_before")
_METRICS: Final = ("accepted", "sent", "delivered", "failed", "cost", "accept_to_call_p95")
_DAY: Final = dt.timedelta(days=1)
_GROUPS: Final[Mapping[str, tuple[Dimension, ...]]] = {
    TOTAL: (),
    "channel": (Dimension.CHANNEL,),
    "producer": (Dimension.PRODUCER,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLine:
    """A figure of a group, with the figures of the two days for comparison."""

    group: str
    """`all`, `channel`, `producer`, `failed by reason`, or `operations`."""
    name: str
    """Name of the channel, producer or reason; empty for `all`."""
    figure: str
    unit: str
    value: float | None
    """None: no latency was measured."""
    day_before: float | None
    week_before: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyReport:
    """The report of a day."""

    day: dt.date
    lines: Sequence[ReportLine]


def build(day: dt.date, *, now: dt.datetime) -> DailyReport:
    """Return the report of a day; the roll-ups keep two years of days.

    Raises:
        QuestionError: the day, or the week before, is no longer kept.
    """
    days = (day, day - _DAY, day - 7 * _DAY)
    lines = [*_traffic(days, now=now), *_reasons(days, now=now), *_operations(days)]
    return DailyReport(day=day, lines=lines)


def as_text(report: DailyReport) -> str:
    """Return the report for people: a block for each group."""
    blocks = [
        f"Notifications on {report.day:%A, %Y-%m-%d} (UTC)",
        "Each line: the day, the day before, the same weekday a week before.",
    ]
    group = ""
    for line in report.lines:
        title = f"{line.group} {line.name}".strip()
        if title != group:
            blocks.append(f"\n{title}")
            group = title
        unit = f" {line.unit}" if line.unit in {"ms", "USD"} else ""
        numbers = (_number(each) for each in (line.value, line.day_before, line.week_before))
        blocks.append(f"  {line.figure:24}" + "".join(f"{each:>14}" for each in numbers) + unit)
    return "\n".join(blocks) + "\n"


def as_json(report: DailyReport) -> dict[str, object]:
    """Return the report as a JSON object."""
    return {
        "day": report.day.isoformat(),
        "lines": [
            {name: getattr(line, name) for name in COLUMNS if name != "day"}
            for line in report.lines
        ],
    }


def as_csv(report: DailyReport) -> Iterator[str]:
    """Yield the lines of a CSV file, without formulas."""
    yield csv_lines.safe_line(COLUMNS)
    for line in report.lines:
        yield csv_lines.safe_line((
            report.day.isoformat(),
            *(getattr(line, name) for name in COLUMNS if name != "day"),
        ))


def _traffic(days: Sequence[dt.date], *, now: dt.datetime) -> Iterator[ReportLine]:
    producers = dict(Producer.objects.values_list("pk", "name"))
    for group, by in _GROUPS.items():
        found = {
            metric: [_totals(metric, each, by, now=now) for each in days] for metric in _METRICS
        }
        keys = {key for totals in found.values() for each in totals for key in each}
        for key in sorted(keys, key=str):
            name = _name(group, key, producers)
            for metric, totals in found.items():
                numbers = [each.get(key, _nothing(metric)) for each in totals]
                yield _line(group, name, metric, METRICS[metric].unit, numbers)


def _reasons(days: Sequence[dt.date], *, now: dt.datetime) -> Iterator[ReportLine]:
    totals = [_totals("failed", each, (Dimension.REASON,), now=now) for each in days]
    for key in sorted({key for each in totals for key in each}, key=str):
        numbers = [each.get(key, 0.0) for each in totals]
        yield _line("failed by reason", str(key[0]), "failed", "deliveries", numbers)


def _operations(days: Sequence[dt.date]) -> Iterator[ReportLine]:
    counts: dict[str, Callable[[dt.datetime, dt.datetime], int]] = {
        "dead letters": lambda start, end: DeadLetter.objects.filter(
            mode=Mode.LIVE, created_at__gte=start, created_at__lt=end
        ).count(),
        "alerts raised": lambda start, end: Alert.objects.filter(
            raised_at__gte=start, raised_at__lt=end
        ).count(),
    }
    for figure, count in counts.items():
        numbers = [float(count(*_bounds(each))) for each in days]
        yield _line("operations", "", figure, figure.split()[0], numbers)


def _totals(
    metric: str, day: dt.date, by: tuple[Dimension, ...], *, now: dt.datetime
) -> dict[tuple[Value, ...], float | None]:
    start, end = _bounds(day)
    answer = ask(Question(metric=metric, start=start, end=end, step=None, by=by, now=now))
    return {each.key: each.total for each in answer.groups}


def _line(
    group: str, name: str, figure: str, unit: str, numbers: Sequence[float | None]
) -> ReportLine:
    value, day_before, week_before = numbers
    return ReportLine(
        group=group,
        name=name,
        figure=figure,
        unit=unit,
        value=value,
        day_before=day_before,
        week_before=week_before,
    )


def _bounds(day: dt.date) -> tuple[dt.datetime, dt.datetime]:
    start = dt.datetime.combine(day, dt.time(), tzinfo=dt.UTC)
    return start, start + _DAY


def _name(group: str, key: tuple[Value, ...], producers: Mapping[int, str]) -> str:
    if not key:
        return ""
    number = int(key[0])
    if group == "channel":
        return Channel(number).label
    return producers.get(number, f"producer {number}" if number else rollups.OTHER)


def _nothing(metric: str) -> float | None:
    return None if METRICS[metric].unit in {"ms", "ratio"} else 0.0


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.2f}" if value % 1 else f"{value:,.0f}"
