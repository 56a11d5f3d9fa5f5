"""Figures of budgets: the money of the day, and a forecast to the end of the month.

The forecast is the cost of the month so far, plus for each further day the mean of the same
weekdays of the last 28 days, or of the last 7 days for a scope with less history. Of the mean of
today, the share of the day that is left counts. Months and days of the forecast are of UTC, as the
days of the roll-ups are.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Sum

from notifications.core.figures.questions import Question, Value, ask
from notifications.core.models import BudgetReservation
from notifications.core.rules.prices import MICROS
from notifications.core.rules.rollups import Dimension, Step
from notifications.features.money import known as budgets
from notifications.features.money.rules import Budget, BudgetState

_DAY: Final = dt.timedelta(days=1)
_WEEK: Final = 7
_LONG: Final = 28
"""Days of history for the means of weekdays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetFigures:
    """The figures of a budget in microdollars."""

    budget: Budget
    day: dt.date
    spent: int
    reserved: int
    """Of calls that are under way."""
    month: int
    """Cost of the month so far, by the roll-ups."""
    forecast: int
    """Forecast of the cost of the whole month."""

    @property
    def money_left(self) -> int:
        """The money of the day that is neither spent nor reserved; 0 above the budget."""
        return max(0, self.budget.amount - self.budget.used)


def of(budget_ids: Collection[int], *, now: dt.datetime) -> dict[int, BudgetFigures]:
    """Return the figures of existing budgets by id."""
    reserved = _money_under_way()
    states = (each for each in budgets.read(now=now) if each.budget.id in budget_ids)
    return {each.budget.id: _figures(each, reserved, now=now) for each in states}


def _figures(state: BudgetState, reserved: Mapping[int, int], *, now: dt.datetime) -> BudgetFigures:
    budget = state.budget
    open_micros = reserved.get(state.ledger or 0, 0)
    costs = daily_costs(_scope(budget), now=now)
    return BudgetFigures(
        budget=budget,
        day=budget.day(now),
        spent=budget.used - open_micros,
        reserved=open_micros,
        month=sum(micros for day, micros in costs.items() if day >= _month(now)),
        forecast=forecast(costs, now=now),
    )


def forecast(costs: Mapping[dt.date, int], *, now: dt.datetime) -> int:
    """Return the forecast of a month's cost in microdollars.

    Args:
        costs: UTC day to cost; the days of the month so far and the last 28 days.
        now: the time.
    """
    today = now.astimezone(dt.UTC).date()
    history = {day: micros for day, micros in costs.items() if day < today}
    weekdays = _means(history, today)
    first = _month(now)
    total = sum(micros for day, micros in costs.items() if day >= first)
    start = dt.datetime.combine(today, dt.time(), tzinfo=dt.UTC)
    left_of_today = 1 - (now - start) / _DAY
    expected = weekdays[today.weekday()] * left_of_today
    day = today + _DAY
    while day.month == today.month:
        expected += weekdays[day.weekday()]
        day += _DAY
    return total + round(expected)


def _means(history: Mapping[dt.date, int], today: dt.date) -> Sequence[float]:
    """Return the mean cost of each weekday, Monday first."""
    known = (today - min(history)).days if history else 0
    if known < _LONG:
        recent = [history.get(today - each * _DAY, 0) for each in range(1, _WEEK + 1)]
        days = min(max(known, 1), _WEEK)
        return [sum(recent) / days] * _WEEK
    sums: dict[int, int] = defaultdict(int)
    for back in range(1, _LONG + 1):
        day = today - back * _DAY
        sums[day.weekday()] += history.get(day, 0)
    return [sums[weekday] / (_LONG // _WEEK) for weekday in range(_WEEK)]


def _month(now: dt.datetime) -> dt.date:
    return now.astimezone(dt.UTC).date().replace(day=1)


def _scope(budget: Budget) -> dict[Dimension, Value]:
    filters: dict[Dimension, Value] = {}
    if budget.producer_id is not None:
        filters[Dimension.PRODUCER] = budget.producer_id
    if budget.channel is not None:
        filters[Dimension.CHANNEL] = int(budget.channel)
    return filters


def daily_costs(filters: Mapping[Dimension, Value], *, now: dt.datetime) -> dict[dt.date, int]:
    """Return the microdollars of each UTC day of the month so far and of the last 28 days.

    Days before the first cost are left out.
    """
    today = now.astimezone(dt.UTC).date()
    first = min(_month(now), today - _LONG * _DAY)
    answer = ask(
        Question(
            metric="cost",
            start=dt.datetime.combine(first, dt.time(), tzinfo=dt.UTC),
            end=now,
            step=Step.DAY,
            filters=filters,
            now=now,
        )
    )
    [group] = answer.groups
    pairs = zip(answer.buckets, group.values, strict=True)
    costs = {bucket.date(): round((value or 0) * MICROS) for bucket, value in pairs}
    began = min((day for day, micros in costs.items() if micros), default=today)
    return {day: micros for day, micros in costs.items() if day >= began}


def _money_under_way() -> dict[int, int]:
    """Return the microdollars of calls under way by ledger."""
    found: dict[int, int] = defaultdict(int)
    rows = BudgetReservation.objects.values_list("ledgers").annotate(Sum("micros"))
    for ledgers, micros in rows:
        for ledger in ledgers:
            found[ledger] += micros
    return found
