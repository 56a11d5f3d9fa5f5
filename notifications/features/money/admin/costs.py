"""Costs: the costs of a month by producer, country, channel, provider and bulk job, with CSV."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from notifications.core import clock
from notifications.core.admin import base, exports
from notifications.core.figures.questions import QuestionError
from notifications.core.rules.prices import MICROS, dollars
from notifications.core.store.postgres import replica
from notifications.features.money import cost_report
from notifications.features.money.cost_report import CostGrouping, CostReport, GroupCost


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of the page."""

    title: str
    by: str
    lines: Sequence[tuple[GroupCost, str]]
    """Each line with its cost in words."""


def show(model_admin: Any, request: HttpRequest) -> HttpResponseBase:  # noqa: ANN401 - the ModelAdmin of another module
    """Show the costs of a month, or export a table.

    Raises:
        PermissionDenied: the operator may not view budgets.
        BadRequest: the month or the table is unknown.
    """
    if not request.user.has_perm("notifications.view_budget"):
        raise PermissionDenied
    now = clock.now()
    try:
        month = cost_report.month_of(request.GET.get("month") or f"{now:%Y-%m}")
        if "csv" in request.GET:
            by = CostGrouping(request.GET["csv"])
            return _export(request, _report(month, by, now), by)
        found = {by: _report(month, by, now) for by in CostGrouping}
    except (QuestionError, ValueError) as error:
        raise BadRequest(str(error)) from error
    whole = found[CostGrouping.PRODUCER]
    context = {
        "month": f"{month:%Y-%m}",
        "before": f"{cost_report.month_before(month):%Y-%m}",
        "total": dollars(whole.micros),
        "forecast": "" if whole.forecast is None else dollars(whole.forecast),
        "tables": [_table(by, each) for by, each in found.items()],
    }
    return base.page(
        model_admin, request, "money/costs.html", title="Costs", context=context, is_of_model=False
    )


def _report(month: dt.date, by: CostGrouping, now: dt.datetime) -> CostReport:
    return replica.read(lambda: cost_report.report(month, by=by, now=now))


def _table(by: CostGrouping, report: CostReport) -> Table:
    lines = [(line, dollars(line.micros)) for line in report.lines]
    return Table(title=by.replace("_", " ").capitalize(), by=by.value, lines=lines)


def _export(request: HttpRequest, report: CostReport, by: CostGrouping) -> HttpResponseBase:
    rows = [
        (f"{report.month:%Y-%m}", line.name, line.bulk_job, line.micros / MICROS)
        for line in report.lines
    ]
    header = ("month", by.value, "bulk_job_id", "cost_usd")
    return exports.stream(request, f"costs-by-{by}", header, rows)
