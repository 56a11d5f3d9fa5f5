"""Prices: list, edit and add."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from unfold.decorators import display

from notifications.core.admin.audited import AuditedAdmin
from notifications.core.admin.fields import DollarsField
from notifications.core.models import Price
from notifications.core.rules import prices


class PriceForm(forms.ModelForm[Price]):
    """The form of a price."""

    micros = DollarsField(
        label="US dollars", help_text="For each SMS segment or message, such as 0.0075."
    )


@admin.register(Price)
class PriceAdmin(AuditedAdmin):
    """A change applies within two seconds, to the next calls; earlier costs stay."""

    form = PriceForm

    list_display = ("channel", "country", "provider", "price", "valid_from")
    list_filter = ("channel", "provider")
    search_fields = ("country", "provider")
    sortable_by = ()

    @display(description="Price")
    def price(self, row: Price) -> str:
        """Return the price in dollars with its unit."""
        unit = "an SMS segment" if row.get_channel_display() == "sms" else "a message"
        return f"{prices.dollars(row.micros)} {unit}"
