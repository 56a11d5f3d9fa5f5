"""Budgets: list with the money of the day and the forecast, edit and add."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from notifications.core import clock
from notifications.core.admin.audited import AuditedAdmin
from notifications.core.admin.fields import DollarsField
from notifications.core.models import Budget
from notifications.core.rules.prices import dollars
from notifications.core.rules.times import local_time
from notifications.features.money import figures as budget_figures
from notifications.features.money.admin import costs
from notifications.features.money.figures import BudgetFigures


class BudgetForm(forms.ModelForm[Budget]):
    """The form of a budget."""

    amount_micros = DollarsField(label="US dollars a day", help_text="Such as 5 or 12.50.")

    def clean_timezone(self) -> str:
        """Return the timezone.

        Raises:
            ValidationError: the timezone is unknown.
        """
        name = str(self.cleaned_data["timezone"])
        if not local_time.is_zone(name):
            raise ValidationError("This timezone is unknown; write a name such as Europe/Berlin.")
        return name


@admin.register(Budget)
class BudgetAdmin(AuditedAdmin):
    """A change applies within two seconds; a raise releases held messages within seconds."""

    form = BudgetForm
    list_display = (
        *(
            "budget",
            "amount",
            "is_hard",
            "money_used",
            "money_reserved",
            "money_left",
            "month",
            "forecast",
        ),
        "timezone",
    )
    sortable_by = ()
    list_select_related = ("producer",)
    fields = ("producer", "channel", "amount_micros", "alert_percent", "is_hard", "timezone")

    def get_readonly_fields(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        obj: Budget | None = None,
    ) -> tuple[str, ...]:
        """Return the read-only fields: scope and days of a budget with ledgers."""
        return ("producer", "channel", "timezone") if obj else ()

    def get_urls(self) -> list[URLPattern]:
        """Add the page of the costs."""
        view = self.admin_site.admin_view(self.costs)
        theirs: list[URLPattern] = super().get_urls()
        return [path("costs/", view, name="notifications_costs"), *theirs]

    def costs(self, request: HttpRequest) -> HttpResponseBase:
        """Show the costs of a month."""
        return costs.show(self, request)

    @display(description="Budget")
    def budget(self, row: Budget) -> str:
        """Return producer and channel."""
        return str(row)

    @display(description="A day")
    def amount(self, row: Budget) -> str:
        """Return the amount in dollars."""
        return dollars(row.amount_micros)

    @display(description="Used today")
    def money_used(self, row: Budget) -> SafeString:
        """Render the used share of the amount as a bar, with the spent money."""
        figures = _figures_of(row)
        share = min(100, round(100 * figures.budget.used / max(row.amount_micros, 1)))
        return format_html(
            '<progress max="100" value="{}"></progress> {} % ({} spent)',
            share,
            share,
            dollars(figures.spent),
        )

    @display(description="Reserved")
    def money_reserved(self, row: Budget) -> str:
        """Return the money of calls under way."""
        return dollars(_figures_of(row).reserved)

    @display(description="Left")
    def money_left(self, row: Budget) -> str:
        """Return the money that is left for the day."""
        return dollars(_figures_of(row).money_left)

    @display(description="This month")
    def month(self, row: Budget) -> str:
        """Return the cost of the month so far."""
        return dollars(_figures_of(row).month)

    @display(description="Forecast of the month")
    def forecast(self, row: Budget) -> str:
        """Return the forecast to the end of the month."""
        return dollars(_figures_of(row).forecast)


def _figures_of(row: Any) -> BudgetFigures:  # noqa: ANN401 - a budget, which keeps the figures
    """Return the figures of a row, read once for each row object."""
    if not hasattr(row, "money"):
        row.money = budget_figures.of({row.pk}, now=clock.now())[row.pk]
    found: BudgetFigures = row.money
    return found
