"""`/v1/budgets`: budgets of a day with their spent, reserved and left money."""

from __future__ import annotations

import datetime as dt
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock
from notifications.core.api import schema
from notifications.core.api.base_view import BaseView
from notifications.core.api.pagination import NumberedPageQuery, newest_rows, page, parse_query
from notifications.core.api.schemas import ChannelWord, ResponseModel
from notifications.core.models import Budget
from notifications.core.rules.prices import MICROS
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


class BudgetListView(BaseView):
    """`/v1/budgets`: list budgets."""

    @extend_schema(
        operation_id="list_budgets",
        summary="List budgets with the money of the day",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(BudgetAnswer)},
        tags=["Analytics"],
    )
    def get(self, request: Request) -> Response:
        """List the budgets of all producers, newest first. Operators edit budgets in the admin."""
        query = parse_query(request, NumberedPageQuery)
        found = Budget.objects.select_related("producer")
        shown, following = newest_rows(query, found)
        figures = budget_figures.of({row.pk for row in shown}, now=clock.now())
        # A budget that was removed since the query has no figures.
        results = [_to_answer(row, figures[row.pk]) for row in shown if row.pk in figures]
        return page(request, results, following=following)


def _to_answer(row: Budget, figures: BudgetFigures) -> dict[str, Any]:
    answer = BudgetAnswer(
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
    return answer.to_json()
