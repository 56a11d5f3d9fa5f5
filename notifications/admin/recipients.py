"""Recipients, how they can be reached, and what they allow."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.admin import StackedInline
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from notifications import clock
from notifications.admin import base, recipient_page
from notifications.admin.actions import action
from notifications.admin.audited import AuditedAdmin, name_of
from notifications.admin.fields import CapsField, ChannelOrderField, known_zone, several
from notifications.admin.quiet_hours import HELP, QuietHoursField
from notifications.delivery import webhook_signing
from notifications.models import Contact, DeadLetter, Preference, Recipient
from notifications.models.choices import CHANNELS
from notifications.rules.language import locales
from notifications.store.postgres import (
    audit,
    contact_addresses,
    dead_letters,
    recipients,
    suppressions,
)
from providers.contract import Channel


class RecipientForm(forms.ModelForm[Recipient]):
    """A timezone that exists, a locale spelled as templates spell theirs."""

    def clean_timezone(self) -> str:
        """Empty or known."""
        name: str = self.cleaned_data["timezone"]
        return known_zone(name) if name else name

    def clean_locale(self) -> str:
        """As BCP 47 spells it.

        Raises:
            ValidationError: CLDR knows no such locale.
        """
        tag = locales.normalised(self.cleaned_data["locale"])
        if not locales.is_known(tag):
            raise ValidationError("There is no such locale. It reads like pt-BR.")
        return tag


class PreferenceForm(forms.ModelForm[Preference]):
    """Channels by name, quiet hours as lines."""

    channels_off = several(CHANNELS, help_text="Nothing is sent there, not even a P0.")
    channel_order = ChannelOrderField(
        required=False, help_text="push, sms, email ... in the order to try them. Empty: the usual."
    )
    quiet_hours = QuietHoursField(required=False, help_text=HELP)

    caps = CapsField(
        required=False,
        help_text="Like sms 1/day, push 5/hour. A channel that is not there has the usual cap.",
    )

    class Meta:
        """A line is enough for a few names."""

        widgets = {"categories_off": UnfoldAdminTextInputWidget}  # noqa: RUF012 - Django's way

    def clean_categories_off(self) -> list[str]:
        """A category that an operator takes off the list is no longer the person's choice."""
        wanted: list[str] = self.cleaned_data["categories_off"]
        left = self.instance.categories_left
        self.instance.categories_left = [category for category in left if category in wanted]
        return wanted


class PreferenceInline(StackedInline):
    """One row, or none: everything allowed."""

    model = Preference
    form = PreferenceForm
    readonly_fields = ("categories_left", "updated_at")


@admin.register(Recipient)
class RecipientAdmin(AuditedAdmin):
    """People, live and test apart."""

    form = RecipientForm
    list_display = ("user_id", "mode", "locale", "timezone", "updated_at")
    list_filter = ("mode",)
    # An index serves this one; a pattern would read every person there is.
    search_fields = ("user_id__exact",)
    search_help_text = "The whole user id, or a whole address."
    show_full_result_count = False
    paginator = base.BoundedPaginator
    ordering = ("-pk",)
    sortable_by = ()
    readonly_fields = ("phone_timezone",)
    inlines = (PreferenceInline,)
    change_form_outer_before_template = "admin/recipient_card.html"  # type: ignore[assignment]  # unfold types its default, None

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Recipient], search_term: str
    ) -> tuple[QuerySet[Recipient], bool]:
        """By index: who calls gives a number or a mailbox, and seldom a user id."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        if not search_term:
            return found, may_repeat
        there = Contact.objects.filter(address=search_term.strip()).values("recipient")
        return found | queryset.filter(pk__in=there), may_repeat

    def audited_with(self, obj: Model) -> list[Model]:
        """With what was done to the person's contacts."""
        return [*super().audited_with(obj), *Contact.objects.filter(recipient=obj.pk)]

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: Any = False,  # noqa: ANN401, FBT002 - Django's signature
        change: Any = False,  # noqa: ANN401, FBT002 - Django's signature
        form_url: str = "",
        obj: Recipient | None = None,
    ) -> HttpResponse:
        """With the card that answers why something came, or did not."""
        if obj is not None:
            context["person"] = recipient_page.context(
                obj, may_view=lambda name: request.user.has_perm(f"notifications.view_{name}")
            )
        return super().render_change_form(request, context, add, change, form_url, obj)


class ContactForm(forms.ModelForm[Contact]):
    """An address that can be sent to, in the spelling in which addresses are stored."""

    def clean(self) -> dict[str, Any]:
        """Check the address as the API does."""
        wanted: dict[str, Any] = super().clean() or {}
        if wanted.get("channel") is not None and "address" in wanted:
            try:
                wanted["address"] = contact_addresses.stored(
                    Channel(wanted["channel"]), wanted["address"]
                )
            except ValueError as error:
                self.add_error("address", f"{error}.")
        return wanted


class NeedsCheckFilter(admin.SimpleListFilter):
    """Contacts that an open dead letter was to reach."""

    title = "needs a check"
    parameter_name = "needs_check"

    def lookups(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        model_admin: admin.ModelAdmin[Any],  # noqa: ARG002 - Django's signature
    ) -> list[tuple[str, str]]:
        """One choice beside all."""
        return [("yes", "Yes")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Contact]) -> QuerySet[Contact]:  # noqa: ARG002 - Django's signature
        """Narrow by the letters' partial index."""
        if self.value() != "yes":
            return queryset
        letters = DeadLetter.objects.filter(resolved_at=None, contact_id__isnull=False)
        return queryset.filter(pk__in=letters.values("contact_id"))


@admin.register(Contact)
class ContactAdmin(AuditedAdmin):
    """Addresses: searched by exactly what stands in them, shown on their own page only."""

    form = ContactForm
    list_display = (
        *("id", "recipient", "channel", "kind", "is_primary"),
        *("state", "needs_check", "invalid_reason", "invalidated_at"),
    )
    list_select_related = ("recipient",)
    list_filter = ("channel", ("invalidated_at", admin.EmptyFieldListFilter), NeedsCheckFilter)
    search_fields = ("address__exact",)
    search_help_text = "The whole address."
    autocomplete_fields = ("recipient",)
    readonly_fields = (
        *("invalidated_at", "invalid_reason", "suppressed_for"),
        *("created_at", "created_by", "changed_at", "changed_by"),
    )
    show_full_result_count = False
    paginator = base.BoundedPaginator
    ordering = ("-pk",)
    sortable_by = ()
    actions = ("make_valid", "renew_secret")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Contact]:
        """With what the suppression list says of them."""
        return dead_letters.with_open_letters(suppressions.told(super().get_queryset(request)))

    @display(
        description="State",
        label={"valid": "success", "invalid": "danger", "suppressed": "warning"},
    )
    def state(self, contact: Contact) -> str:
        """Whether its address is used."""
        if contact.invalidated_at:
            return "invalid"
        return "suppressed" if suppressions.causes_of(contact) else "valid"

    @display(description="Needs a check", boolean=True)
    def needs_check(self, contact: Contact) -> bool:
        """An open dead letter was to reach the address."""
        return bool(getattr(contact, "needs_check", False))

    @display(description="On the suppression list for")
    def suppressed_for(self, contact: Contact) -> str:
        """Why nothing is sent there."""
        return ", ".join(cause.replace("_", " ") for cause in suppressions.causes_of(contact))

    def save_model(  # type: ignore[override]  # unfold forgets which model this is the admin of
        self, request: HttpRequest, obj: Contact, form: forms.Form, change: object
    ) -> None:
        """A new number may be another country's."""
        if change:
            obj.changed_at, obj.changed_by = clock.now(), name_of(request)
        else:
            obj.created_by = name_of(request)
        super().save_model(request, obj, form, change)
        recipients.note_zone(obj.recipient)

    @action("New signing secret", permissions=["change"])
    def renew_secret(self, request: HttpRequest, queryset: QuerySet[Contact]) -> None:
        """Show a webhook's new secret once; the one before signs for a week more."""
        for contact in queryset:
            row = Contact.objects.filter(pk=contact.pk)
            with audit.changes(name_of(request), "rotate_signing_secret", row):
                secret = webhook_signing.rotate(contact.pk)
            if secret is None:
                self.message_user(request, f"{contact} is no webhook.", messages.WARNING)
                continue
            said = f"{contact} is signed with {secret.shown()}; the page does not show it again."
            self.message_user(request, said, messages.SUCCESS)

    @action("Valid again", permissions=["change"])
    def make_valid(self, request: HttpRequest, queryset: QuerySet[Contact]) -> None:
        """The person has repaired it, or the provider was wrong."""
        with audit.changes(name_of(request), "make_contact_valid", queryset):
            repaired = queryset.exclude(invalidated_at=None).update(
                invalidated_at=None, invalid_reason=""
            )
        self.message_user(request, f"{repaired} contacts are valid again.", messages.SUCCESS)
