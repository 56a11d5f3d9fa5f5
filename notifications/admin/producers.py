"""Producers and their keys. A key's secret is shown once, on the page that made it."""

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

from notifications import clock
from notifications.admin import base
from notifications.admin.actions import action
from notifications.admin.audited import AuditedAdmin, name_of
from notifications.admin.fields import known_zone, several
from notifications.models import ApiKey, Producer
from notifications.models.choices import PRIORITIES
from notifications.rules import access
from notifications.rules.access import GRANTABLE
from notifications.rules.lane import Mode
from notifications.store.postgres import api_keys, audit


class ProducerForm(forms.ModelForm[Producer]):
    """Check boxes for the priorities, a timezone that exists."""

    priorities = several(PRIORITIES, help_text="Priorities that it may use.")

    def clean_timezone(self) -> str:
        """Known."""
        return known_zone(self.cleaned_data["timezone"])


@admin.register(Producer)
class ProducerAdmin(AuditedAdmin):
    """Services that may call. Switching one off is better than deleting it: its messages stay."""

    form = ProducerForm
    list_display = ("name", "is_active", "rate_per_second", "may_send_content", "created_at")
    search_fields = ("name",)

    def has_delete_permission(self, request: HttpRequest, obj: Producer | None = None) -> bool:  # noqa: ARG002 - Django's signature
        """Its notifications name it for ninety days."""
        return False


class ApiKeyForm(forms.ModelForm[ApiKey]):
    """What a new key may do."""

    scopes = forms.MultipleChoiceField(
        choices=[(scope, scope) for scope in sorted(GRANTABLE)],
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        """The digest and the prefix are made by `store.postgres.api_keys`."""

        model = ApiKey
        fields = ("producer", "mode", "scopes", "note", "expires_at")


class RotateForm(forms.Form):
    """How long both keys work."""

    hours = forms.IntegerField(
        min_value=0,
        max_value=720,
        initial=24,
        label="Hours that the old key works on",
        widget=UnfoldAdminIntegerFieldWidget,
    )

    def clean(self) -> dict[str, Any]:
        """With the hours as a span."""
        cleaned: dict[str, Any] = super().clean() or {}
        return {"overlap": dt.timedelta(hours=cleaned.get("hours", 0)), **cleaned}


@admin.register(ApiKey)
class ApiKeyAdmin(AuditedAdmin):
    """Made, looked at and revoked; never changed, so that a key means one thing all its life."""

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
        """What is asked of a new key; of an existing one also what became of it."""
        del request
        asked = ("producer", "mode", "scopes", "note", "expires_at")
        return asked if obj is None else self.readonly_shown[:1] + asked + self.readonly_shown[1:]

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:  # noqa: ARG002 - Django's signature
        """A key is replaced, not changed."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:  # noqa: ARG002 - Django's signature
        """Revoking leaves a trace; deleting would not."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Who may change keys may revoke them."""
        return bool(request.user.has_perm("notifications.change_apikey"))

    @display(
        description="State", label={"good": "success", "expired": "warning", "revoked": "danger"}
    )
    def state(self, key: ApiKey) -> str:
        """Good, expired or revoked."""
        if key.revoked_at:
            return "revoked"
        return "expired" if key.expires_at and key.expires_at <= clock.now() else "good"

    @action("Revoke", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """At once, as far as `store.postgres.api_keys` remembers a key."""
        with audit.changes(name_of(request), "revoke_key", queryset):
            count = api_keys.revoke(queryset, by=name_of(request))
        self.message_user(request, f"{count} keys revoked.", messages.SUCCESS)
        heirs = ApiKey.objects.filter(replaces__in=queryset, revoked_at=None)
        if working := ", ".join(heirs.values_list("prefix", flat=True)):
            said = f"Keys that replaced them still work: {working}. Revoke those too after a leak."
            self.message_user(request, said, messages.WARNING)

    def save_model(  # type: ignore[override]  # unfold forgets which model this is the admin of
        self, request: HttpRequest, obj: ApiKey, form: forms.Form, change: object
    ) -> None:
        """Let `store.postgres.api_keys` make the key."""
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
        """Offer the scopes that the operator's own rights cover: a key does no more than they."""
        made: type[forms.ModelForm[ApiKey]] = super().get_form(request, obj, change, **kwargs)
        if "scopes" in made.base_fields:
            field = cast("forms.MultipleChoiceField", made.base_fields["scopes"])
            field.choices = [(scope, scope) for scope in _scopes_of(request)]
        return made

    def has_rotate_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Who may make keys, and could have made this one."""
        if not request.user.has_perm("notifications.add_apikey"):
            return False
        key = ApiKey.objects.filter(pk=str(object_id)).first() if object_id else None
        return key is None or set(key.scopes) <= set(_scopes_of(request))

    @action("Rotate", permissions=["rotate"], url_path="rotate", icon="autorenew")
    def rotate(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask how long both keys work, then show the new one."""
        key = get_object_or_404(ApiKey, pk=object_id)
        back = reverse("admin:notifications_apikey_change", args=[key.pk])
        form = RotateForm(request.POST if request.method == "POST" else None)
        if form.is_valid():
            try:
                with audit.changes(name_of(request), "rotate_key", _itself(key)) as news:
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
            "consequence": "A new key that may do the same is made and shown once. The old one"
            " works for so many hours longer.",
            "back": back,
        }
        template = "admin/suppression_form.html"
        return base.page(self, request, template, title=f"Rotate {key}", context=context)

    def response_add(
        self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the secret now: a redirect would have to store it somewhere."""
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


def _itself(key: ApiKey) -> QuerySet[ApiKey]:
    return ApiKey.objects.filter(pk=key.pk)


def _scopes_of(request: HttpRequest) -> list[str]:
    """Return the scopes that the operator's own rights cover, sorted."""
    user = request.user
    return access.scopes_within(lambda right: user.has_perm(f"notifications.{right}"))
