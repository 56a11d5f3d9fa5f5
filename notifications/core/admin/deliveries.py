"""Deliveries, resolved by hand if `unknown`, and notifications; `activity` lists both."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, reverse
from unfold.decorators import display

from notifications.core.admin import activity, base, message_page, workers
from notifications.core.admin.actions import action, requires
from notifications.core.admin.audited import name_of
from notifications.core.admin.message_actions import MessageActions
from notifications.core.models import Delivery, Notification
from notifications.core.operations import replay
from notifications.core.rules import ids
from notifications.core.rules.states import Status
from notifications.core.store.postgres import audit, search, timelines


@admin.register(Delivery)
class DeliveryAdmin(base.ReadOnlyAdmin):
    """List of deliveries with status `unknown`, with two actions: sent, or not sent."""

    list_display = (
        *("id", "channel", "priority", "status_label", "reason", "provider", "attempts"),
        *("due_at", "mode"),
    )
    list_filter = (base.RecentFilter, "status", "channel", "priority", "mode")
    search_fields = ("id",)
    search_help_text = "Address, user id, provider's message id, notification id or delivery id."
    ordering = ("-id",)
    sortable_by = ()
    paginator = base.BoundedPaginator
    actions = ("was_sent", "was_not_sent")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Delivery], search_term: str
    ) -> tuple[QuerySet[Delivery], bool]:
        """Search by index with `store.postgres.search`; patterns are not supported."""
        del request
        if not search_term:
            return queryset, False
        return queryset.filter(
            pk__in={hit.delivery_id for hit in search.find_any(search_term)}
        ), False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:  # noqa: ANN401 - Django's own annotation
        """Show the `unknown` deliveries; redirect other filters to the activity."""
        is_unknown = request.GET.get("status__exact") == str(Status.UNKNOWN.value)
        if is_unknown or request.method == "POST":
            return super().changelist_view(request, extra_context)
        return activity.redirect_list(self, request)

    @display(description="Status", label=base.STATUS_COLOURS)
    def status_label(self, row: Delivery) -> str:
        """Return the status as a label."""
        return Status(row.status).label

    def change_view(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        object_id: str,
        form_url: str = "",  # noqa: ARG002 - Django's signature
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002 - Django's signature
    ) -> HttpResponse:
        """Redirect to the page of the notification.

        Raises:
            Http404: the id is malformed.
        """
        try:
            delivery = UUID(object_id)
        except ValueError as error:
            raise Http404 from error
        page = reverse(
            "admin:notifications_notification_change", args=[ids.notification_of(delivery)]
        )
        return HttpResponseRedirect(f"{page}#{delivery}")

    def get_urls(self) -> list[URLPattern]:
        """Add the page of the workers."""
        view = self.admin_site.admin_view(self.workers)
        theirs: list[URLPattern] = super().get_urls()
        return [path("workers/", view, name="notifications_workers"), *theirs]

    def workers(self, request: HttpRequest) -> HttpResponse:
        """Show the work of each lane."""
        return workers.show(self, request)

    has_resolve_permission = requires("notifications.change_delivery")

    @action("Unknown: it was sent", permissions=["resolve"])
    def was_sent(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        """Mark deliveries as sent, when the provider's log shows the message."""
        self._resolve(request, queryset, as_sent=True)

    @action("Unknown: it was not sent", permissions=["resolve"])
    def was_not_sent(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        """Mark deliveries as not sent, when the provider's log lacks the message."""
        self._resolve(request, queryset, as_sent=False)

    def _resolve(
        self, request: HttpRequest, queryset: QuerySet[Delivery], *, as_sent: bool
    ) -> None:
        wanted = queryset.filter(status=Status.UNKNOWN).values_list("pk", flat=True)
        rows = Delivery.objects.filter(pk__in=list(wanted[: base.COUNTED]))
        with audit.changes(name_of(request), "resolve_unknown", rows):
            moved = replay.resolve_unknown(
                [row.pk for row in rows], as_sent=as_sent, by=name_of(request)
            )
        word = "sent" if as_sent else "not sent"
        self.message_user(request, f"{moved} unknown deliveries are now {word}.", messages.SUCCESS)


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
