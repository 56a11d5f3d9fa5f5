"""Costs of a month by producer, country, channel, provider or bulk job, with a forecast.

Costs come from the roll-ups, seconds old, and are those of live messages. The forecast is that of
`figures` for all messages together. The roll-ups have no bulk jobs, so the cost of a bulk
job is that of all its messages, in the month in which the job began.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from django.db.models import Sum

from notifications.core.figures.questions import Question, QuestionError, ask
from notifications.core.models import BulkJob, Producer
from notifications.core.rules.bulk_job import Total
from notifications.core.rules.lane import Mode
from notifications.core.rules.prices import MICROS
from notifications.core.rules.rollups import OTHER, Dimension
from notifications.features.money import figures
from providers.contract import Channel

MOST_LINES: Final = 1_000
"""Most lines of a report."""
_MONTH: Final = re.compile(r"20[0-9]{2}-(0[1-9]|1[0-2])")


class CostGrouping(StrEnum):
    """The groups of a report."""

    PRODUCER = "producer"
    COUNTRY = "country"
    CHANNEL = "channel"
    PROVIDER = "provider"
    BULK_JOB = "bulk_job"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCost:
    """The cost of a group."""

    name: str
    """Producer, country, channel, provider, or name of the bulk job; empty: unknown."""
    bulk_job: str = ""
    """Id of the bulk job; empty for other groups."""
    micros: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    """The costs of a month in microdollars."""

    month: dt.date
    """First UTC day."""
    micros: int
    forecast: int | None
    """Forecast of the whole month; None: the month is over."""
    lines: Sequence[GroupCost]
    """The groups with a cost, the highest cost first."""


def month_of(text: str) -> dt.date:
    """Return the first day of a month such as `2026-11`.

    Raises:
        ValueError: the text is no month of this century.
    """
    if not _MONTH.fullmatch(text):
        raise ValueError("write a month such as 2026-11")
    return dt.date.fromisoformat(f"{text}-01")


def month_before(month: dt.date) -> dt.date:
    """Return the first day of the month before."""
    return (month - dt.timedelta(days=1)).replace(day=1)


def report(month: dt.date, *, by: CostGrouping, now: dt.datetime) -> CostReport:
    """Return the costs of a month.

    Args:
        month: first day of the month.
        by: the groups.
        now: the time.

    Raises:
        QuestionError: the month is in the future, or its days are no longer kept.
    """
    present = now.astimezone(dt.UTC).date().replace(day=1)
    if month > present:
        raise QuestionError("month", f"{month:%Y-%m} has not begun")
    whole = ask(_question(month, (), now=now))
    lines = _jobs(month) if by is CostGrouping.BULK_JOB else _groups(month, Dimension(by), now=now)
    return CostReport(
        month=month,
        micros=round((whole.groups[0].total or 0) * MICROS),
        forecast=figures.forecast(figures.daily_costs({}, now=now), now=now)
        if month == present
        else None,
        lines=lines[:MOST_LINES],
    )


def _question(month: dt.date, by: tuple[Dimension, ...], *, now: dt.datetime) -> Question:
    return Question(metric="cost", start=_start(month), end=_start(_after(month)), by=by, now=now)


def _start(day: dt.date) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(), tzinfo=dt.UTC)


def _after(month: dt.date) -> dt.date:
    return (month + dt.timedelta(days=31)).replace(day=1)


def _groups(month: dt.date, dimension: Dimension, *, now: dt.datetime) -> list[GroupCost]:
    question = _question(month, (dimension,), now=now)
    groups = [each for each in ask(question).groups if each.total]
    names = _names(dimension, {each.key[0] for each in groups})
    return [
        GroupCost(
            name=names.get(each.key[0], str(each.key[0])), micros=round((each.total or 0) * MICROS)
        )
        for each in groups
    ]


def _names(dimension: Dimension, keys: set[int | str]) -> Mapping[int | str, str]:
    """Return the names of producers and channels; a country or a provider is its own name."""
    if dimension is Dimension.CHANNEL:
        return {int(each): each.label for each in Channel}
    if dimension is Dimension.PRODUCER:
        known: dict[int | str, str] = dict(
            Producer.objects.filter(id__in=keys).values_list("id", "name")
        )
        return dict.fromkeys(keys, OTHER) | known
    return {}


def _jobs(month: dt.date) -> list[GroupCost]:
    rows = (
        BulkJob.objects
        .filter(
            mode=Mode.LIVE,
            started_at__gte=_start(month),
            started_at__lt=_start(_after(month)),
            figures__kind="total",
            figures__name=Total.COST_MICROS,
        )
        .annotate(micros=Sum("figures__count"))
        .order_by("-micros", "pk")
        .values_list("pk", "name", "micros")[:MOST_LINES]
    )
    return [GroupCost(name=name, bulk_job=str(pk), micros=micros) for pk, name, micros in rows]
