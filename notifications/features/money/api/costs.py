"""`/v1/costs`: costs of a month by producer, country, channel, provider or bulk job."""

from __future__ import annotations

from typing import Annotated, Literal

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from pydantic import Field

from notifications.core import clock
from notifications.core.api.csv_io import CSV, CsvView
from notifications.core.api.examples import Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.figures.questions import QuestionError
from notifications.core.rules import csv_lines
from notifications.core.rules.access import LIVE
from notifications.core.rules.prices import MICROS
from notifications.core.rules.problems import FieldError, Kind, Problem, Source
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import replica
from notifications.features.money import cost_report
from notifications.features.money.cost_report import CostGrouping, CostReport


class CostsQuery(RequestModel):
    """The month and the groups of a cost report."""

    by: Literal["producer", "country", "channel", "provider", "bulk_job"] = "producer"
    """The groups."""
    month: Annotated[str, Field(pattern="^20[0-9]{2}-(0[1-9]|1[0-2])$")] | None = None
    """A UTC month such as `2026-11`. Without it, the present month."""
    format: Literal["json", "csv"] | None = None
    """`csv` answers with a CSV file, as `Accept: text/csv` does."""


class CostLineAnswer(ResponseModel):
    """The cost of a group."""

    name: str | None
    """Producer, country, channel, provider or name of the bulk job; null: unknown. The country
    of an e-mail is a guess by the recipient's timezone or locale."""
    bulk_job_id: str | None
    """Id of the bulk job; null for other groups."""
    cost_usd: float


class CostsAnswer(ResponseModel):
    """The costs of live messages in a month, in US dollars."""

    month: str
    by: Literal["producer", "country", "channel", "provider", "bulk_job"]
    cost_usd: float
    """Cost of all messages of the month so far."""
    forecast_usd: float | None
    """Forecast of the whole month: the cost so far, plus for each further day the mean of the same
    weekdays of the last 28 days, or of the last 7 days with less history.
    Null: the month is over."""
    lines: list[CostLineAnswer]
    """The groups, the highest cost first, at most 1,000."""


@operation(
    "GET v1/costs",
    "Report the costs of a month",
    Access(Scope.OPERATIONS_READ, LIVE, "view_budget"),
    CostsQuery,
    answers={(200, "application/json"): CostsAnswer, (200, CSV): OpenApiTypes.STR},
    tag="Analytics",
    examples={
        "minimal": Example("The costs of the month by producer"),
        "usual": Example(
            "The bulk jobs of the month by cost, as a CSV file",
            query={"by": "bulk_job", "format": "csv"},
        ),
    },
    base=CsvView,
)
def get_costs(call: Call, query: CostsQuery) -> CostsAnswer | HttpResponse:
    """Report the costs of the live messages of every producer, seconds old.

    Months are of UTC and are kept for 2 years. `by=bulk_job` has the jobs that began in the
    month, each with the cost of all its messages; a job is kept 8 days longer than its
    messages.
    """
    now = clock.now()
    month = cost_report.month_of(query.month or f"{now:%Y-%m}")
    try:
        by = CostGrouping(query.by)
        found = replica.read(lambda: cost_report.report(month, by=by, now=now))
    except QuestionError as error:
        fault = FieldError("/month", str(error), Source.QUERY)
        raise_problem(Problem(Kind.INVALID, f"month: {error}", (fault,)))
    if query.format == "csv" or call.request.accepted_renderer.media_type == CSV:
        return HttpResponse(_csv(found, query.by), content_type=f"{CSV}; charset=utf-8")
    return _to_answer(found, query)


def _to_answer(found: CostReport, query: CostsQuery) -> CostsAnswer:
    return CostsAnswer(
        month=f"{found.month:%Y-%m}",
        by=query.by,
        cost_usd=found.micros / MICROS,
        forecast_usd=None if found.forecast is None else found.forecast / MICROS,
        lines=[
            CostLineAnswer(
                name=each.name or None,
                bulk_job_id=each.bulk_job or None,
                cost_usd=each.micros / MICROS,
            )
            for each in found.lines
        ],
    )


def _csv(found: CostReport, by: str) -> str:
    """Return a line for each group; the cell of an unknown group is empty."""
    rows = [
        (f"{found.month:%Y-%m}", each.name, each.bulk_job, each.micros / MICROS)
        for each in found.lines
    ]
    head = ("month", by, "bulk_job_id", "cost_usd")
    return "".join(csv_lines.safe_line(row) for row in (head, *rows))
