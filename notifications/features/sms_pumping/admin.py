"""SMS pumping protection: traffic and ceilings, overrides, limits."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import reverse
from unfold.decorators import display

from notifications.core import clock
from notifications.core.admin.audited import AuditedAdmin
from notifications.core.rules import phone
from notifications.features.sms_pumping import traffic_now
from notifications.features.sms_pumping.models import SmsLimits, SmsOverride
from notifications.features.sms_pumping.rules.ceilings import (
    PREFIX_DIGITS,
    Ceiling,
)
from notifications.features.sms_pumping.traffic_now import TrafficLine


class SmsOverrideForm(forms.ModelForm[SmsOverride]):
    """The form of an override."""

    def clean(self) -> dict[str, Any]:
        """Return the fields.

        Raises:
            ValidationError: the value does not fit the kind of the ceiling.
        """
        cleaned: dict[str, Any] = super().clean() or {}
        ceiling, value = cleaned.get("ceiling", ""), cleaned.get("value", "")
        if not ceiling or not value:
            return cleaned
        is_country = value == phone.UNKNOWN_COUNTRY or value.isalpha()
        if is_country is not (ceiling == Ceiling.COUNTRY):
            raise ValidationError({"value": "A country has two letters; others have digits."})
        if ceiling == Ceiling.PREFIX and len(value) > PREFIX_DIGITS:
            raise ValidationError({"value": f"A prefix has up to {PREFIX_DIGITS} digits."})
        return cleaned


@admin.register(SmsOverride)
class SmsOverrideAdmin(AuditedAdmin):
    """An override applies within two seconds. The card above the list shows the traffic now."""

    form = SmsOverrideForm
    fields = ("ceiling", "value", "limit", "ends_at", "reason")
    list_display = ("ceiling", "value", "shown_limit", "ends_at", "state", "reason", "created_at")
    list_filter = ("ceiling",)
    sortable_by = ()
    list_before_template = "sms_pumping/traffic.html"  # type: ignore[assignment]  # unfold types its default, None

    class Media:
        """Styles of the card above the list."""

        css: ClassVar = {"all": ("notifications/console.css",)}

    @display(description="Limit")
    def shown_limit(self, row: SmsOverride) -> str:
        """Return the limit, or `none`."""
        return "none" if row.limit is None else str(row.limit)

    @display(description="State", label={"on": "success", "ended": "warning"})
    def state(self, row: SmsOverride) -> str:
        """Return `on` or `ended`."""
        return "ended" if row.ends_at and row.ends_at <= clock.now() else "on"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:  # noqa: ANN401 - Django's own annotation
        """Add the traffic beside its ceilings to the list."""
        found = traffic_now.lines(now=clock.now())
        add = reverse("admin:notifications_smsoverride_add")
        shown = [{"line": line, "override_url": _add_url(add, line)} for line in found or ()]
        context = {
            "traffic": shown,
            "is_away": found is None,
            "may_override": self.has_add_permission(request),
        }
        return super().changelist_view(request, context | (extra_context or {}))


def _add_url(add: str, line: TrafficLine) -> str:
    """Return the URL of the form for an override of a line's ceiling."""
    is_own = line.ceiling is Ceiling.PRODUCER_COUNTRY
    ceiling = Ceiling.COUNTRY if is_own else line.ceiling
    return f"{add}?{urlencode({'ceiling': ceiling.value, 'value': line.name})}"


@admin.register(SmsLimits)
class SmsLimitsAdmin(AuditedAdmin):
    """At most one row; a deletion restores the defaults."""

    list_display = (
        *("__str__", "address_limit", "prefix_floor", "country_floor"),
        *("growth_percent", "is_enforced"),
    )
    sortable_by = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return True while there is no row."""
        return super().has_add_permission(request) and not SmsLimits.objects.exists()
