"""`/v1/budgets`: budgets of a day with their spent, reserved and left money."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Final

from django.db.models import QuerySet

from notifications.core import clock
from notifications.core.api.examples import Example
from notifications.core.api.operation import Access, Call
from notifications.core.api.pagination import NumberedPageQuery
from notifications.core.api.resource import Resource
from notifications.core.api.schemas import ChannelWord, ResponseModel
from notifications.core.models import Budget
from notifications.core.rules.access import LIVE
from notifications.core.rules.prices import MICROS
from notifications.core.rules.scopes import Scope
from notifications.features.money import figures as budget_figures
from notifications.features.money.figures import BudgetFigures
from providers.contract import Channel


class BudgetAnswer(ResponseModel):
    """A budget of a day. Amounts are US dollars."""

    id: int
    producer: str | None
    """Name of the producer; null: all producers together."""
    channel: ChannelWord | None
    """The channel; null: all channels together."""
    amount: float
    """The most that the messages of a day may cost."""
    is_hard: bool
    """Above a hard budget, P2 and P3 wait. Another budget raises alerts alone."""
    alert_percent: int
    """Share of the amount at which the first alert of a day is raised."""
    day: dt.date
    """The current day in the timezone of the budget."""
    timezone: str
    spent: float
    """Cost of the day's calls with an outcome."""
    reserved: float
    """Estimated cost of calls that are under way."""
    left: float
    """The money of the day that is neither spent nor reserved."""
    month: float
    """Cost of the UTC month so far."""
    forecast: float
    """Forecast of the cost of the whole month: the month so far, plus for each further day the mean
    of the same weekdays of the last 28 days, or of the last 7 days with less history."""


def _to_lines(budgets: Sequence[Budget]) -> Iterator[BudgetAnswer]:
    figures = budget_figures.of({row.pk for row in budgets}, now=clock.now())
    # A budget that was removed since the query has no figures.
    return (_to_answer(row, figures[row.pk]) for row in budgets if row.pk in figures)


def _to_answer(row: Budget, figures: BudgetFigures) -> BudgetAnswer:
    return BudgetAnswer(
        id=row.pk,
        producer=row.producer.name if row.producer else None,
        channel=None if row.channel is None else Channel(row.channel).label,
        amount=row.amount_micros / MICROS,
        is_hard=row.is_hard,
        alert_percent=row.alert_percent,
        day=figures.day,
        timezone=row.timezone,
        spent=figures.spent / MICROS,
        reserved=figures.reserved / MICROS,
        left=figures.money_left / MICROS,
        month=figures.month / MICROS,
        forecast=figures.forecast / MICROS,
    )


BUDGETS: Final = Resource(
    noun="budget",
    path="v1/budgets",
    rows=lambda _call: Budget.objects.select_related("producer"),
    answer=BudgetAnswer,
    tag="Analytics",
)


@BUDGETS.list(
    "List budgets with the money of the day",
    Access(Scope.OPERATIONS_READ, LIVE, "view_budget"),
    NumberedPageQuery,
    to_lines=_to_lines,
    examples={
        "minimal": Example("The budgets with the money of the day"),
        "usual": Example("Ten budgets", query={"limit": 10}),
    },
)
def list_budgets(call: Call, _query: NumberedPageQuery) -> QuerySet[Budget]:
    """List the budgets of all producers, newest first. Operators edit budgets in the admin."""
    return BUDGETS.rows(call)
