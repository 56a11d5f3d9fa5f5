"""Notifications: a page with deliveries, attempts and timeline; the list is `activity`."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path

from notifications.core.admin import activity, base, message_page
from notifications.core.admin.message_actions import MessageActions
from notifications.core.models import Notification
from notifications.core.store.postgres import timelines


@admin.register(Notification)
class NotificationAdmin(MessageActions):
    """The page of a notification; `activity` is the list."""

    def get_urls(self) -> list[URLPattern]:
        """Add the page of the activity."""
        view = self.admin_site.admin_view(self.activity)
        theirs: list[URLPattern] = super().get_urls()
        return [path("activity/", view, name="notifications_activity"), *theirs]

    def activity(self, request: HttpRequest) -> HttpResponseBase:
        """Show the list of all messages."""
        return activity.show(self, request)

    def changelist_view(
        self,
        request: HttpRequest,
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002 - Django's signature
    ) -> Any:  # noqa: ANN401 - Django's own annotation
        """Redirect to the activity with the same filters."""
        return activity.redirect_list(self, request)

    @base.own_page
    def change_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a notification with the timeline.

        Raises:
            Http404: the notification does not exist.
        """
        known = message_page.parse_id(object_id)
        timeline = timelines.of(known) if known else None
        if timeline is None:
            raise Http404
        notification = timeline.notification
        return base.page(
            self,
            request,
            "admin/notification.html",
            title=f"{notification.type} to {message_page.person(notification)}",
            context=message_page.context(request, timeline),
        )
