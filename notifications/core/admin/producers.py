"""Producers and API keys. The page after creation shows the secret of a key once."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar, cast

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from unfold.decorators import display
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from notifications.core import clock
from notifications.core.admin import base
from notifications.core.admin.actions import action, never, requires
from notifications.core.admin.audited import AuditedAdmin, name_of
from notifications.core.admin.fields import (
    CountriesField,
    OriginsField,
    clean_timezone_name,
    several,
)
from notifications.core.admin.monitoring.links import traffic_link
from notifications.core.models import ApiKey, Producer
from notifications.core.models.choices import PRIORITIES
from notifications.core.rules import access
from notifications.core.rules.lane import Mode
from notifications.core.rules.scopes import GRANTABLE
from notifications.core.store.postgres import api_keys, audit


class ProducerForm(forms.ModelForm[Producer]):
    """Checkboxes for priorities, and validation of the timezone."""

    priorities = several(PRIORITIES, help_text="Allowed priorities.")

    allowed_origins = OriginsField(
        required=False,
        help_text="Origins of the pages that may call with recipient tokens of the producer, one a"
        " line, such as https://shop.example. A single * permits every origin.",
    )

    sms_countries = CountriesField(
        required=False,
        help_text="Countries to which the producer may send SMS, such as DE, AT. Empty: every"
        " country. SMS to other countries get 403.",
    )

    def clean_timezone(self) -> str:
        """Return a known timezone."""
        return clean_timezone_name(self.cleaned_data["timezone"])


@admin.register(Producer)
class ProducerAdmin(AuditedAdmin):
    """Producers are switched off instead of deleted, because notifications refer to a producer."""

    form = ProducerForm
    list_display = (
        *("name", "is_active", "rate_per_second", "may_send_content", "created_at"),
        "plots",
    )
    readonly_fields = ("plots",)
    search_fields = ("name",)

    @display(description="Plots")
    def plots(self, row: Producer) -> str:
        """Return the link to the page with plots."""
        return traffic_link("producer", row.pk)

    has_delete_permission = never  # notifications refer to the producer for ninety days


class ApiKeyForm(forms.ModelForm[ApiKey]):
    """The properties of a new key."""

    scopes = forms.MultipleChoiceField(
        choices=[(scope, scope) for scope in sorted(GRANTABLE)],
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        """`store.postgres.api_keys` creates the digest and the prefix."""

        model = ApiKey
        fields = ("producer", "mode", "scopes", "note", "expires_at")


class RotateForm(forms.Form):
    """The overlap in which both keys work."""

    hours = forms.IntegerField(
        min_value=0,
        max_value=720,
        initial=24,
        label="Hours until the old key expires",
        widget=UnfoldAdminIntegerFieldWidget,
    )

    def clean(self) -> dict[str, Any]:
        """Add the overlap as a timedelta."""
        cleaned: dict[str, Any] = super().clean() or {}
        return {"overlap": dt.timedelta(hours=cleaned.get("hours", 0)), **cleaned}


@admin.register(ApiKey)
class ApiKeyAdmin(AuditedAdmin):
    """Keys are created, rotated and revoked, never changed: permissions of a key are constant."""

    form = ApiKeyForm
    list_display = ("prefix", "producer", "mode", "state", "note", "created_at", "expires_at")
    list_filter = ("mode", "producer")
    search_fields = ("prefix__exact",)
    actions = ("revoke",)
    actions_detail = ("rotate",)  # type: ignore[assignment]  # unfold types its default, an empty tuple
    readonly_shown: ClassVar[tuple[str, ...]] = (
        *("prefix", "created_at", "created_by", "replaces"),
        *("revoked_at", "revoked_by"),
    )

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        """Return the editable fields of a new key, or all fields of an existing key."""
        del request
        asked = ("producer", "mode", "scopes", "note", "expires_at")
        return asked if obj is None else self.readonly_shown[:1] + asked + self.readonly_shown[1:]

    has_change_permission = never  # a key is replaced, not changed
    has_delete_permission = never  # a key is revoked, so that a record stays
    has_revoke_permission = requires("notifications.change_apikey")

    @display(
        description="State", label={"good": "success", "expired": "warning", "revoked": "danger"}
    )
    def state(self, key: ApiKey) -> str:
        """Return `good`, `expired` or `revoked`."""
        if key.revoked_at:
            return "revoked"
        return "expired" if key.expires_at and key.expires_at <= clock.now() else "good"

    @action("Revoke", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """Revoke keys, effective after the cache time of `store.postgres.api_keys`."""
        with audit.changes(name_of(request), "revoke_key", queryset):
            count = api_keys.revoke(queryset, by=name_of(request))
        self.message_user(request, f"{count} keys revoked.", messages.SUCCESS)
        heirs = ApiKey.objects.filter(replaces__in=queryset, revoked_at=None)
        if working := ", ".join(heirs.values_list("prefix", flat=True)):
            said = f"Replacement keys still work: {working}. After a leak, revoke these too."
            self.message_user(request, said, messages.WARNING)

    def save_model(  # type: ignore[override]  # unfold forgets which model this is the admin of
        self, request: HttpRequest, obj: ApiKey, form: forms.Form, change: object
    ) -> None:
        """Create the key with `store.postgres.api_keys`."""
        del change
        wanted = form.cleaned_data
        made, secret = api_keys.issue(
            wanted["producer"],
            mode=Mode(wanted["mode"]),
            scopes=wanted["scopes"],
            note=wanted["note"],
            expires_at=wanted["expires_at"],
            by=name_of(request),
        )
        obj.pk, obj.prefix = made.pk, made.prefix
        obj.secret = secret  # type: ignore[attr-defined]  # for the one page that shows it

    def get_form(
        self,
        request: HttpRequest,
        obj: ApiKey | None = None,
        change: Any = False,  # noqa: ANN401, FBT002 - Django's signature
        **kwargs: Any,  # noqa: ANN401 - Django's signature
    ) -> type[forms.ModelForm[ApiKey]]:
        """Offer only scopes covered by the operator's permissions."""
        made: type[forms.ModelForm[ApiKey]] = super().get_form(request, obj, change, **kwargs)
        if "scopes" in made.base_fields:
            field = cast("forms.MultipleChoiceField", made.base_fields["scopes"])
            field.choices = [(scope, scope) for scope in _scopes_of(request)]
        return made

    def has_rotate_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Return True if the operator may create a key with the same scopes."""
        if not request.user.has_perm("notifications.add_apikey"):
            return False
        key = ApiKey.objects.filter(pk=str(object_id)).first() if object_id else None
        return key is None or set(key.scopes) <= set(_scopes_of(request))

    @action("Rotate", permissions=["rotate"], url_path="rotate", icon="autorenew")
    def rotate(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask for the overlap, then show the new key."""
        key = get_object_or_404(ApiKey, pk=object_id)
        back = reverse("admin:notifications_apikey_change", args=[key.pk])
        form = RotateForm(request.POST if request.method == "POST" else None)
        if form.is_valid():
            try:
                itself = ApiKey.objects.filter(pk=key.pk)
                with audit.changes(name_of(request), "rotate_key", itself) as news:
                    made, secret = api_keys.rotate(
                        key, overlap=form.cleaned_data["overlap"], by=name_of(request)
                    )
                    news.append(made)
            except api_keys.NotRotatable as error:
                self.message_user(request, f"Not done: {error}.", messages.ERROR)
                return HttpResponseRedirect(back)
            made.secret = secret  # type: ignore[attr-defined]  # for the one page that shows it
            return self.response_add(request, made)
        context = {
            "form": form,
            "verb": "Rotate",
            "consequence": "A new key with the same scopes is created and shown once. The old key"
            " works for the given hours.",
            "back": back,
        }
        template = "admin/suppression_form.html"
        return base.page(self, request, template, title=f"Rotate {key}", context=context)

    def response_add(
        self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the secret in this response; a redirect would need storage for the secret."""
        del post_url_continue
        answer = base.page(
            self,
            request,
            "admin/key_issued.html",
            title="Copy the key now",
            context={"key": obj},
        )
        answer["Cache-Control"] = "no-store"
        return answer


def _scopes_of(request: HttpRequest) -> list[str]:
    """Return the scopes that the operator's own rights cover, sorted."""
    user = request.user
    return access.scopes_within(lambda right: user.has_perm(f"notifications.{right}"))
