"""Recipients, contacts and preferences."""

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

from notifications.core import clock
from notifications.core.admin import base, recipient_names, recipient_page
from notifications.core.admin.actions import action
from notifications.core.admin.addresses import MaskedAddressAdmin
from notifications.core.admin.audited import AuditedAdmin, name_of
from notifications.core.admin.fields import (
    QUIET_HOURS_HELP,
    CapsField,
    ChannelOrderField,
    QuietHoursField,
    TopicsOffField,
    clean_timezone_name,
    several,
)
from notifications.core.delivery import webhook_signing
from notifications.core.models import Contact, DeadLetter, Preference, Recipient
from notifications.core.models.choices import CHANNELS
from notifications.core.rules import addresses
from notifications.core.rules import preferences as preference_rules
from notifications.core.rules.lane import Mode
from notifications.core.rules.language import locales
from notifications.core.store.cached import recipient_ids
from notifications.core.store.postgres import (
    audit,
    contact_addresses,
    contacts_by_address,
    dead_letters,
    device_owners,
    erasure,
    preferences,
    recipients,
    suppressions,
)
from notifications.core.store.recipient_tokens import revocations
from providers.contract import Channel


class RecipientForm(forms.ModelForm[Recipient]):
    """Validates the timezone and the locale."""

    def clean_timezone(self) -> str:
        """Return an empty or known timezone."""
        name: str = self.cleaned_data["timezone"]
        return clean_timezone_name(name) if name else name

    def clean_locale(self) -> str:
        """Return the normalised locale (BCP 47).

        Raises:
            ValidationError: CLDR has no such locale.
        """
        tag = locales.normalize(self.cleaned_data["locale"])
        if not locales.is_known(tag):
            raise ValidationError("Unknown locale. Use a BCP 47 tag such as pt-BR.")
        return tag


class PreferenceForm(forms.ModelForm[Preference]):
    """Channels by name, quiet hours as lines."""

    channels_off = several(CHANNELS, help_text="Nothing is sent on these channels, P0 included.")
    channel_order = ChannelOrderField(
        required=False,
        help_text="Order of preference. Without a channel: the default order.",
    )
    quiet_hours = QuietHoursField(required=False, help_text=QUIET_HOURS_HELP)

    topics_off = TopicsOffField(
        required=False,
        help_text="Categories and types that are off on one channel: email: orders LIKE, push:"
        " social.",
    )
    caps = CapsField(
        required=False,
        help_text="Such as sms 1/day, push 5/hour. Other channels have the default cap.",
    )

    class Meta:
        """Short lists of names need a single line."""

        widgets = {"categories_off": UnfoldAdminTextInputWidget}  # noqa: RUF012 - Django's way

    def clean(self) -> dict[str, Any]:
        """Forget the recipient's own opt-out where an operator switches something on."""
        wanted: dict[str, Any] = super().clean() or self.cleaned_data
        names = ("channels_off", "categories_off", "topics_off")
        if all(name in wanted for name in names):
            after = preference_rules.read(*(wanted[name] for name in names))
            preferences.keep_left(self.instance, after)
        return wanted


class PreferenceInline(StackedInline):
    """The preferences; without a row everything is allowed."""

    model = Preference
    form = PreferenceForm
    readonly_fields = ("channels_left", "categories_left", "topics_left", "updated_at")


@admin.register(Recipient)
class RecipientAdmin(AuditedAdmin):
    """Recipients of both modes."""

    form = RecipientForm
    list_display = ("person", "mode", "locale", "timezone", "updated_at")
    list_filter = ("mode",)
    # The exact match uses an index; a pattern would scan the table.
    search_fields = ("user_id__exact",)
    search_help_text = "The whole user id, or a whole address."
    show_full_result_count = False
    paginator = base.BoundedPaginator
    ordering = ("-pk",)
    sortable_by = ()
    readonly_fields = ("phone_timezone",)
    inlines = (PreferenceInline,)
    actions = ("revoke_tokens",)
    change_form_outer_before_template = "admin/recipient_card.html"  # type: ignore[assignment]  # unfold types its default, None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Recipient]:
        """Add the addresses."""
        return recipient_names.with_address(super().get_queryset(request), recipient="pk")

    @display(description="User id")
    def person(self, row: Recipient) -> str:
        """Return the user id, and the masked address of a recipient registered by an address."""
        return recipient_names.name_of_row(row, row.user_id)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Recipient], search_term: str
    ) -> tuple[QuerySet[Recipient], bool]:
        """Search by user id or by address, with indexes."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        if not search_term:
            return found, may_repeat
        there = contacts_by_address.of_term(search_term).values("recipient")
        return found | queryset.filter(pk__in=there), may_repeat

    @action("Revoke tokens", permissions=["change"])
    def revoke_tokens(self, request: HttpRequest, queryset: QuerySet[Recipient]) -> None:
        """Revoke all tokens of recipients' apps and browsers issued until now."""
        for recipient in queryset:
            revocations.revoke(recipient, by=name_of(request))
        said = f"The tokens of {len(queryset)} recipients end within 2 seconds."
        self.message_user(request, said, messages.SUCCESS)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        """Erase a recipient."""
        self.delete_queryset(request, Recipient.objects.filter(pk=obj.pk))

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:  # noqa: ARG002 - Django's signature
        """Log nothing: Django's log would keep the user ids. The audit log has the erasures."""
        return []

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Erase recipients as the API does; jobs remove the notifications."""
        by, people = name_of(request), list(queryset)
        for person in people:
            with audit.changes(by, "erase_recipient") as made:
                mode = Mode(person.mode)
                user_id = person.user_id
                job = erasure.begin(mode=mode, user_id=user_id, requested_by=by, by=by)
                made.extend([job] if job else [])
        recipient_ids.drop([person.pk for person in people])
        self.message_user(request, "Notifications are removed within minutes: see Erasures.")

    def get_audited_objects(self, obj: Model) -> list[Model]:
        """Add the audit entries of the contacts."""
        return [*super().get_audited_objects(obj), *Contact.objects.filter(recipient=obj.pk)]

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: Any = False,  # noqa: ANN401, FBT002 - Django's signature
        change: Any = False,  # noqa: ANN401, FBT002 - Django's signature
        form_url: str = "",
        obj: Recipient | None = None,
    ) -> HttpResponse:
        """Add the card with contacts and latest notifications."""
        if obj is not None:
            context["person"] = recipient_page.context(
                obj, may_view=lambda name: request.user.has_perm(f"notifications.view_{name}")
            )
        return super().render_change_form(request, context, add, change, form_url, obj)


class ContactForm(forms.ModelForm[Contact]):
    """Validates and normalises the address."""

    def clean(self) -> dict[str, Any]:
        """Check the address with the rules of the API."""
        wanted: dict[str, Any] = super().clean() or {}
        if wanted.get("channel") is not None and "address" in wanted:
            channel = Channel(wanted["channel"])
            try:
                wanted["address"] = contact_addresses.normalize(channel, wanted["address"])
                wanted["kind"] = contact_addresses.kind_of(
                    channel, wanted["address"], wanted.get("kind", "")
                )
            except ValueError as error:
                self.add_error("address", f"{error}.")
            else:
                self._check_that_it_is_new(wanted)
        return wanted

    def _check_that_it_is_new(self, wanted: dict[str, Any]) -> None:
        key = addresses.key(wanted["channel"], wanted["address"])
        same = contacts_by_address.of_keys([key]).filter(
            recipient=wanted.get("recipient"), channel=wanted["channel"]
        )
        if same.exclude(pk=self.instance.pk).exists():
            said = "The recipient has this address already, perhaps in another spelling."
            self.add_error("address", said)


class NeedsCheckFilter(base.ChoiceFilter):
    """Filter for contacts with an open dead letter."""

    title = "needs a check"
    parameter_name = "needs_check"
    offered = (("yes", "Yes"),)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Contact]) -> QuerySet[Contact]:  # noqa: ARG002 - Django's signature
        """Filter with the partial index of dead letters."""
        if self.value() != "yes":
            return queryset
        letters = DeadLetter.objects.filter(resolved_at=None, contact_id__isnull=False)
        return queryset.filter(pk__in=letters.values("contact_id"))


@admin.register(Contact)
class ContactAdmin(MaskedAddressAdmin):
    """Contacts: search by the exact address; addresses are masked."""

    form = ContactForm
    list_display = (
        *("id", "recipient", "channel", "masked_address", "kind", "is_primary"),
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

    def get_fields(self, request: HttpRequest, obj: Contact | None = None) -> tuple[str, ...]:
        """Return the fields, with the masked address for most operators."""
        address = self.address_field(request, obj)
        known = () if obj is None else self.readonly_fields
        return ("recipient", "channel", address, "kind", "is_primary", *known)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Contact]:
        """Add the suppressions and open dead letters of the contacts."""
        return dead_letters.with_open_dead_letters(
            suppressions.with_causes(super().get_queryset(request))
        )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Contact], search_term: str
    ) -> tuple[QuerySet[Contact], bool]:
        """Search by address in any spelling, with the index."""
        del request
        if not search_term.strip():
            return queryset, False
        found = contacts_by_address.of_term(search_term)
        return queryset.filter(pk__in=found.values("pk")), False

    @display(
        description="State",
        label={"valid": "success", "invalid": "danger", "suppressed": "warning"},
    )
    def state(self, contact: Contact) -> str:
        """Return `valid`, `invalid` or `suppressed`."""
        if contact.invalidated_at:
            return "invalid"
        return "suppressed" if suppressions.causes_of(contact) else "valid"

    @display(description="Needs a check", boolean=True)
    def needs_check(self, contact: Contact) -> bool:
        """Return True if the contact has an open dead letter."""
        return bool(getattr(contact, "needs_check", False))

    @display(description="On the suppression list for")
    def suppressed_for(self, contact: Contact) -> str:
        """Return the reasons on the suppression list."""
        return ", ".join(cause.replace("_", " ") for cause in suppressions.causes_of(contact))

    def save_model(  # type: ignore[override]  # unfold forgets which model this is the admin of
        self, request: HttpRequest, obj: Contact, form: forms.Form, change: object
    ) -> None:
        """Save the contact and update the timezone suggested by the phone number."""
        if change:
            obj.changed_at, obj.changed_by = clock.now(), name_of(request)
        else:
            obj.created_by = name_of(request)
        device_owners.lock(obj.recipient, [obj.address] if obj.channel == Channel.PUSH else [])
        super().save_model(request, obj, form, change)
        device_owners.take(obj, by=name_of(request))
        recipients.set_timezone(obj.recipient)

    @action("New signing secret", permissions=["change"])
    def renew_secret(self, request: HttpRequest, queryset: QuerySet[Contact]) -> None:
        """Show a webhook's new secret once; the previous secret stays active for a week."""
        for contact in queryset:
            row = Contact.objects.filter(pk=contact.pk)
            with audit.changes(name_of(request), "rotate_signing_secret", row):
                secret = webhook_signing.rotate(contact.pk)
            if secret is None:
                self.message_user(request, f"{contact} is not a webhook.", messages.WARNING)
                continue
            said = f"New secret of {contact}: {secret.text()}. The secret is shown only now."
            self.message_user(request, said, messages.SUCCESS)

    @action("Valid again", permissions=["change"])
    def make_valid(self, request: HttpRequest, queryset: QuerySet[Contact]) -> None:
        """Mark contacts as valid, after a repair or a wrong report by the provider.

        A device that another contact has now stays with it.
        """
        moved = [each.pk for each in queryset if _is_elsewhere(each)]
        if moved:
            said = f"{len(moved)} devices belong to another recipient now and stay there."
            self.message_user(request, said, messages.WARNING)
        queryset = queryset.exclude(pk__in=moved)
        with audit.changes(name_of(request), "make_contact_valid", queryset):
            repaired = queryset.exclude(invalidated_at=None).update(
                invalidated_at=None,
                invalid_reason="",
                changed_at=clock.now(),
                changed_by=name_of(request),
            )
        self.message_user(request, f"{repaired} contacts are valid again.", messages.SUCCESS)


def _is_elsewhere(contact: Contact) -> bool:
    is_device = contact.channel == Channel.PUSH
    return is_device and device_owners.others(contact).exists()
