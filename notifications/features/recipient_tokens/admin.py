"""Token secrets of producers. The page after creation shows a secret once."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar

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
from notifications.core.models import TokenSecret
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.store.postgres import audit
from notifications.core.store.recipient_tokens import token_secrets


class TokenSecretForm(forms.ModelForm[TokenSecret]):
    """The properties of a new secret."""

    scopes = forms.MultipleChoiceField(
        choices=[(scope.value, f"{scope.value}: {scope.sentence}") for scope in TokenScope],
        widget=forms.CheckboxSelectMultiple,
        help_text="Scopes that the producer may give to a token of any recipient.",
    )

    class Meta:
        """`store.recipient_tokens.token_secrets` makes the secret."""

        model = TokenSecret
        fields = ("producer", "mode", "scopes", "note")


class RotateSecretForm(forms.Form):
    """The overlap with two signing secrets."""

    hours = forms.IntegerField(
        min_value=0,
        max_value=24 * 90,
        initial=int(token_secrets.OVERLAP.total_seconds()) // 3600,
        label="Hours until the old secret expires",
        widget=UnfoldAdminIntegerFieldWidget,
    )


@admin.register(TokenSecret)
class TokenSecretAdmin(AuditedAdmin):
    """Secrets are created, rotated and revoked, never changed."""

    form = TokenSecretForm
    list_display = ("key_id", "producer", "mode", "state", "note", "created_at", "expires_at")
    list_filter = ("mode", "producer")
    list_select_related = ("producer",)
    search_fields = ("key_id__exact",)
    actions = ("revoke",)
    actions_detail = ("rotate",)  # type: ignore[assignment]  # unfold types its default, an empty tuple
    shown: ClassVar[tuple[str, ...]] = (
        *("key_id", "fingerprint", "state", "created_at", "created_by", "replaces"),
        *("expires_at", "revoked_at", "revoked_by"),
    )
    readonly_fields = ("state",)

    def get_fields(self, request: HttpRequest, obj: TokenSecret | None = None) -> tuple[str, ...]:
        """Return the editable fields of a new secret, or all fields of an existing secret."""
        del request
        asked = ("producer", "mode", "scopes", "note")
        return asked if obj is None else (*asked, *self.shown)

    has_change_permission = never  # a secret is replaced, not changed
    has_delete_permission = never  # a secret is revoked, so that a record stays
    has_revoke_permission = requires("notifications.change_tokensecret")
    has_rotate_permission = requires("notifications.add_tokensecret")

    @display(
        description="State",
        label={"active": "success", "expired": "warning", "revoked": "danger", "lost": "danger"},
    )
    def state(self, row: TokenSecret) -> str:
        """Return the state; `lost` means that the encryption key was removed."""
        return token_secrets.state_of(row, now=clock.now())

    @action("Revoke", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[TokenSecret]) -> None:
        """Revoke secrets and all tokens of the secrets, effective within two seconds."""
        with audit.changes(name_of(request), "revoke_token_secret", queryset):
            count = token_secrets.revoke(queryset, by=name_of(request))
        self.message_user(request, f"{count} secrets revoked.", messages.SUCCESS)
        heirs = TokenSecret.objects.filter(replaces__in=queryset, revoked_at=None)
        if working := ", ".join(heirs.values_list("key_id", flat=True)):
            said = f"Replacements still sign: {working}. After a leak, revoke these too."
            self.message_user(request, said, messages.WARNING)

    def save_model(  # type: ignore[override]  # unfold forgets which model this is the admin of
        self, request: HttpRequest, obj: TokenSecret, form: forms.Form, change: object
    ) -> None:
        """Create the secret with `store.recipient_tokens.token_secrets`."""
        del change
        wanted = form.cleaned_data
        row, text = token_secrets.create(
            wanted["producer"],
            mode=Mode(wanted["mode"]),
            scopes=wanted["scopes"],
            note=wanted["note"],
            by=name_of(request),
        )
        obj.pk, obj.key_id = row.pk, row.key_id
        obj.text = text  # type: ignore[attr-defined]  # for the one page that shows it

    @action("Rotate", permissions=["rotate"], url_path="rotate", icon="autorenew")
    def rotate(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask for the overlap, then show the new secret."""
        old = get_object_or_404(TokenSecret, pk=object_id)
        back = reverse("admin:notifications_tokensecret_change", args=[old.pk])
        form = RotateSecretForm(request.POST if request.method == "POST" else None)
        if form.is_valid():
            overlap = dt.timedelta(hours=form.cleaned_data["hours"])
            rows = TokenSecret.objects.filter(pk=old.pk)
            try:
                with audit.changes(name_of(request), "rotate_token_secret", rows) as news:
                    row, text = token_secrets.rotate(old, overlap=overlap, by=name_of(request))
                    news.append(row)
            except token_secrets.SecretNotRotatable as error:
                self.message_user(request, f"Not done: {error}.", messages.ERROR)
                return HttpResponseRedirect(back)
            row.text = text  # type: ignore[attr-defined]  # for the one page that shows it
            return self.response_add(request, row)
        context = {
            "form": form,
            "verb": "Rotate",
            "consequence": "A new secret with the same scopes is created and shown once. The old"
            " secret signs for the given hours; then all tokens of the old secret end.",
            "back": back,
        }
        title = f"Rotate {old}"
        return base.page(self, request, "admin/suppression_form.html", title=title, context=context)

    def response_add(
        self,
        request: HttpRequest,
        obj: TokenSecret,
        post_url_continue: Any = None,  # noqa: ANN401 - Django's signature
    ) -> HttpResponse:
        """Show the secret in this response; a redirect would need storage for the secret."""
        del post_url_continue
        answer = base.page(
            self,
            request,
            "recipient_tokens/secret.html",
            title="Copy the secret now",
            context={"secret": obj},
        )
        answer["Cache-Control"] = "no-store"
        return answer
