"""Brands: list, edit with previews, add and delete."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from notifications.core.admin.audited import AuditedAdmin
from notifications.core.rules.brand import DEFAULT
from notifications.features.brands import preview, rows
from notifications.features.brands.admin.form import BrandForm
from notifications.features.brands.models import Brand


@admin.register(Brand)
class BrandAdmin(AuditedAdmin):
    """A change applies to messages that are sent two seconds later."""

    form = BrandForm
    list_display = ("name", "of", "colour", "font", "sender", "reply_to", "updated_at")
    list_select_related = ("producer",)
    search_fields = ("name",)
    change_form_after_template = "brands/previews.html"  # type: ignore[assignment]  # unfold types its default, None

    def get_readonly_fields(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        obj: Brand | None = None,
    ) -> tuple[str, ...]:
        """Return the read-only fields: the producer of a stored brand."""
        return ("producer",) if obj else ()

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: Any = False,  # noqa: ANN401, FBT002 - Django's signature
        change: Any = False,  # noqa: ANN401, FBT002 - Django's signature
        form_url: str = "",
        obj: Any = None,  # noqa: ANN401 - Django's signature
    ) -> HttpResponse:
        """Add previews of the stored brand, and permit the server of the logo."""
        brand = DEFAULT if obj is None else rows.to_brand(obj)
        if obj is not None:
            context["previews"] = preview.previews(brand)
        answer = super().render_change_form(request, context, add, change, form_url, obj)
        answer.image_origin = brand.logo_origin  # type: ignore[attr-defined]  # for `notifyproj.csp`
        return answer

    @display(description="Producer")
    def of(self, row: Brand) -> str:
        """Return the producer."""
        return row.producer.name if row.producer else "all without a brand"

    @display(description="Colour")
    def colour(self, row: Brand) -> SafeString:
        """Return the colour with a sample."""
        return format_html(
            '<span style="background:{};color:{};padding:.15rem .5rem">{}</span>',
            row.color,
            rows.to_brand(row).color_text,
            row.color,
        )

    @display(description="Sender")
    def sender(self, row: Brand) -> str:
        """Return the sender, and whether the setting permits it."""
        if rows.is_permitted(row.sender_address):
            return " ".join(filter(None, (row.sender_name, row.sender_address)))
        return f"{row.sender_address} (not used: NOTIFY_MAIL_SENDERS does not permit it)"
