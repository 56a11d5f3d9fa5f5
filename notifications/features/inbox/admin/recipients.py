"""Recipients with the action Inbox."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from notifications.core.admin import base, recipients
from notifications.core.admin.actions import action
from notifications.core.admin.audited import name_of
from notifications.core.models import Recipient
from notifications.core.store.postgres import audit
from notifications.features.inbox.admin import page

admin.site.unregister(Recipient)


@admin.register(Recipient)
class InboxRecipientAdmin(recipients.RecipientAdmin):
    """Recipients of both modes, with a page for the inbox."""

    actions_detail: Sequence[str] = ("show_inbox",)  # type: ignore[assignment]  # unfold types its default, an empty tuple

    def has_inbox_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Return True if the operator may see the texts of messages."""
        del object_id
        return page.may_view(request)

    @action("Inbox", permissions=["inbox"], url_path="inbox", icon="inbox")
    def show_inbox(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Show the recipient's inbox, and audit the view."""
        person = get_object_or_404(Recipient, pk=object_id)
        context = page.context(request, person)
        audit.record(name_of(request), "see_inbox", person, after={"tab": str(context["tab"])})
        title = f"Inbox of {person}"
        return base.page(self, request, "inbox/page.html", title=title, context=context)
