"""Recipients, how they can be reached, and what they allow."""

from __future__ import annotations

import zoneinfo
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin, StackedInline, TabularInline
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from notifications.admin import reading
from notifications.admin.actions import action
from notifications.admin.fields import ChannelOrderField, several
from notifications.models import Contact, Preference, Recipient
from notifications.models.choices import CHANNELS
from notifications.rules import locales


class RecipientForm(forms.ModelForm[Recipient]):
    """A timezone that exists, a locale spelled as templates spell theirs."""

    def clean_timezone(self) -> str:
        """Empty or known.

        Raises:
            ValidationError: the zone is not in the tz database.
        """
        name: str = self.cleaned_data["timezone"]
        if name and name not in zoneinfo.available_timezones():
            raise ValidationError("There is no such timezone. It reads like America/Sao_Paulo.")
        return name

    def clean_locale(self) -> str:
        """As BCP 47 spells it."""
        return locales.normalised(self.cleaned_data["locale"])


class ContactInline(TabularInline):
    """Which contacts there are; an address is on the contact's own page alone."""

    model = Contact
    fields = readonly_fields = ("channel", "kind", "is_primary", "invalidated_at", "invalid_reason")
    extra = 0
    show_change_link = True
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ANN401, ARG002 - Django's signature
        """Added on a page of its own, where the address can be typed."""
        return False


class PreferenceForm(forms.ModelForm[Preference]):
    """Channels by name."""

    channels_off = several(CHANNELS, help_text="Nothing is sent there, not even a P0.")
    channel_order = ChannelOrderField(
        required=False, help_text="push, sms, email ... in the order to try them. Empty: the usual."
    )

    class Meta:
        """A line is enough for a few names."""

        widgets = {"categories_off": UnfoldAdminTextInputWidget}  # noqa: RUF012 - Django's way


class PreferenceInline(StackedInline):
    """One row, or none: everything allowed."""

    model = Preference
    form = PreferenceForm


@admin.register(Recipient)
class RecipientAdmin(ModelAdmin):
    """People, live and test apart."""

    form = RecipientForm
    list_display = ("user_id", "mode", "locale", "timezone", "updated_at")
    list_filter = ("mode",)
    # An index serves this one; a pattern would read every person there is.
    search_fields = ("user_id__exact",)
    show_full_result_count = False
    paginator = reading.BoundedPaginator
    ordering = ("-pk",)
    sortable_by = ()
    inlines = (PreferenceInline, ContactInline)


@admin.register(Contact)
class ContactAdmin(ModelAdmin):
    """Addresses: searched by exactly what stands in them, shown on their own page only."""

    list_display = (
        *("id", "recipient", "channel", "kind", "is_primary"),
        *("state", "invalid_reason", "invalidated_at"),
    )
    list_select_related = ("recipient",)
    list_filter = ("channel", ("invalidated_at", admin.EmptyFieldListFilter))
    search_fields = ("address__exact",)
    search_help_text = "The whole address."
    autocomplete_fields = ("recipient",)
    readonly_fields = ("invalidated_at", "invalid_reason", "created_at")
    show_full_result_count = False
    paginator = reading.BoundedPaginator
    ordering = ("-pk",)
    sortable_by = ()
    actions = ("make_valid",)

    @display(description="State", label={"valid": "success", "invalid": "danger"})
    def state(self, contact: Contact) -> str:
        """Valid or invalid."""
        return "invalid" if contact.invalidated_at else "valid"

    @action("Valid again", permissions=["change"])
    def make_valid(self, request: HttpRequest, queryset: QuerySet[Contact]) -> None:
        """The person has repaired it, or the provider was wrong."""
        repaired = queryset.exclude(invalidated_at=None).update(
            invalidated_at=None, invalid_reason=""
        )
        self.message_user(request, f"{repaired} contacts are valid again.", messages.SUCCESS)
