"""Operators' sessions. Operators can end their own sessions; a superuser can end all sessions."""

from __future__ import annotations

from django.contrib import admin, messages
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from notifications.core import clock
from notifications.core.admin import base
from notifications.core.admin.actions import action
from notifications.core.admin.audited import name_of
from notifications.core.models import SignIn
from notifications.core.store.postgres import audit
from notifications.core.store.redis import sign_ins


@admin.register(SignIn)
class SignInAdmin(base.ReadOnlyAdmin):
    """Read-only list with an action to end sessions."""

    list_display = ("user", "state", "at", "seen_at", "address", "agent", "ended_by")
    list_select_related = ("user",)
    list_display_links = None
    sortable_by = ()
    actions = ("end",)

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:  # noqa: ARG002 - Django's signature
        """Return True for all operators; the queryset restricts the rows."""
        return bool(request.user.is_active and request.user.is_staff)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Return True for all operators."""
        return self.has_view_permission(request)

    def has_end_permission(self, request: HttpRequest) -> bool:
        """Return True if the operator may view sessions."""
        return self.has_view_permission(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[SignIn]:
        """Return the operator's own sessions; all sessions for a superuser."""
        rows: QuerySet[SignIn] = super().get_queryset(request)
        alive = Session.objects.filter(pk=OuterRef("session_key"), expire_date__gt=clock.now())
        rows = rows.annotate(is_alive=Exists(alive))
        return rows if request.user.is_superuser else rows.filter(user_id=request.user.pk or 0)

    @display(description="State", label={"open": "success"})
    def state(self, row: SignIn) -> str:
        """Return `open`, `ended` or `expired`."""
        if row.ended_at is not None:
            return "ended"
        return "open" if row.is_alive else "expired"  # type: ignore[attr-defined]  # annotated above

    @action("End", permissions=["end"])
    def end(self, request: HttpRequest, queryset: QuerySet[SignIn]) -> None:
        """End sessions at once: the next request of a session needs a sign-in."""
        with audit.changes(name_of(request), "end_session", queryset):
            ended = sign_ins.end(queryset, by=name_of(request))
        self.message_user(request, f"{ended} sessions ended.", messages.SUCCESS)
