"""Notifications: search, and a page with deliveries, attempts and timeline."""

from __future__ import annotations

import json
from typing import ClassVar
from uuid import UUID

from django.contrib import admin
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Func, OuterRef, QuerySet, UUIDField
from django.http import Http404, HttpRequest, HttpResponse
from unfold.decorators import display

from notifications.admin import base, recipient_page
from notifications.models import Delivery, Notification, Producer, Recipient
from notifications.rules import reasons
from notifications.rules.states import Status, overall
from notifications.store.postgres import search, timelines


class _LastDeliveryOf(Func):
    """The upper bound of a notification's range of delivery ids."""

    function = "last_delivery_of"
    output_field = UUIDField()


@admin.register(Notification)
class NotificationAdmin(base.ReadOnlyAdmin):
    """Read-only list: a notification changes with the deliveries only."""

    list_display = ("created_at", "id", "user_id", "type", "priority", "mode", "status")
    list_filter = (base.RecentFilter, "priority", "mode")
    list_display_links = ("created_at", "id")
    search_fields = ("id",)
    search_help_text = "Address, user id, provider's message id, notification id or delivery id."
    ordering = ("-id",)
    sortable_by = ()
    paginator = base.BoundedPaginator
    readonly_fields: ClassVar[tuple[str, ...]] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Notification]:
        """Add the statuses of the deliveries of the rows on the page."""
        theirs = Delivery.objects.filter(
            pk__gt=OuterRef("pk"), pk__lte=_LastDeliveryOf(OuterRef("pk"))
        )
        rows: QuerySet[Notification] = super().get_queryset(request)
        # The list does not need variables, secrets and content.
        return rows.only("id", "created_at", "user_id", "type", "priority", "mode").annotate(
            statuses=ArraySubquery(theirs.values("status"))
        )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Notification], search_term: str
    ) -> tuple[QuerySet[Notification], bool]:
        """Search by index with `store.postgres.search`; patterns are not supported."""
        del request
        if not search_term:
            return queryset, False
        found = {hit.notification_id for hit in search.find_any(search_term)}
        return queryset.filter(pk__in=found), False

    @display(description="Status", label=base.STATUS_COLOURS)
    def status(self, row: Notification) -> str:
        """Return the status of the most advanced delivery."""
        statuses: list[int] = row.statuses  # type: ignore[attr-defined]  # annotated above
        return overall([Status(status) for status in statuses]).label if statuses else "-"

    @base.own_page
    def change_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a notification with the timeline.

        Raises:
            Http404: the notification does not exist.
        """
        try:
            timeline = timelines.of(UUID(object_id))
        except ValueError:
            timeline = None
        if timeline is None:
            raise Http404
        notification = timeline.notification
        producer = Producer.objects.filter(pk=notification.producer_id).first()
        recipient = Recipient.objects.filter(pk=notification.recipient_id).first()
        return base.page(
            self,
            request,
            "admin/notification.html",
            title=f"{notification.type} to {notification.user_id}",
            context={
                "timeline": timeline,
                "producer": producer,
                "variables": json.dumps(timeline.variables, indent=2, ensure_ascii=False),
                "status_colour": base.colour_of(timeline.status),
                "clock": recipient_page.clock_of(recipient or Recipient()),
                "deliveries": [
                    recipient_page.effort(delivery, expires_at=notification.expires_at)
                    for delivery in timeline.deliveries
                ],
                "events": [
                    (
                        event,
                        base.colour_of(Status(event.status)) if event.status else "",
                        reasons.sentence(event.reason),
                    )
                    for event in timeline.events
                ],
            },
        )
