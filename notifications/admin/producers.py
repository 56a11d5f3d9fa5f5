"""Producers and their keys. A key's secret is shown once, on the page that made it."""

from __future__ import annotations

from typing import ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.admin import ModelAdmin
from unfold.decorators import display

from notifications import clock
from notifications.admin import reading
from notifications.admin.actions import action
from notifications.admin.fields import known_zone, several
from notifications.models import ApiKey, Producer
from notifications.models.choices import PRIORITIES
from notifications.rules.access import GRANTABLE
from notifications.rules.lane import Mode
from notifications.store import keys


class ProducerForm(forms.ModelForm[Producer]):
    """Check boxes for the priorities, a timezone that exists."""

    priorities = several(PRIORITIES, help_text="Priorities that it may use.")

    def clean_timezone(self) -> str:
        """Known."""
        return known_zone(self.cleaned_data["timezone"])


@admin.register(Producer)
class ProducerAdmin(ModelAdmin):
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
        """The digest and the prefix are made by `store.keys`."""

        model = ApiKey
        fields = ("producer", "mode", "scopes", "note", "expires_at")


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):
    """Made, looked at and revoked; never changed, so that a key means one thing all its life."""

    form = ApiKeyForm
    list_display = ("prefix", "producer", "mode", "state", "note", "created_at", "expires_at")
    list_filter = ("mode", "producer")
    search_fields = ("prefix__exact",)
    actions = ("revoke",)
    readonly_shown: ClassVar[tuple[str, ...]] = ("prefix", "created_at", "revoked_at")

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
        """At once, as far as `store.keys` remembers a key."""
        count = queryset.filter(revoked_at=None).update(revoked_at=clock.now())
        self.message_user(request, f"{count} keys revoked.", messages.SUCCESS)

    def save_model(  # type: ignore[override]  # unfold forgets which model this is the admin of
        self, request: HttpRequest, obj: ApiKey, form: forms.Form, change: object
    ) -> None:
        """Let `store.keys` make the key."""
        del request, change
        wanted = form.cleaned_data
        made, secret = keys.issue(
            wanted["producer"],
            mode=Mode(wanted["mode"]),
            scopes=wanted["scopes"],
            note=wanted["note"],
            expires_at=wanted["expires_at"],
        )
        obj.pk, obj.prefix = made.pk, made.prefix
        obj.secret = secret  # type: ignore[attr-defined]  # for the one page that shows it

    def response_add(
        self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the secret now: a redirect would have to store it somewhere."""
        del post_url_continue
        answer = reading.page(
            self,
            request,
            "admin/key_issued.html",
            title="Copy the key now",
            context={"key": obj},
        )
        answer["Cache-Control"] = "no-store"
        return answer
