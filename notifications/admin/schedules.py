"""Schedules: what recurs, when it comes next, what came of it; paused and resumed by hand."""

from __future__ import annotations

import datetime as dt
from itertools import islice
from typing import Final

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from unfold.decorators import display

from notifications import clock
from notifications.admin import reading
from notifications.admin.actions import action
from notifications.models import Occurrence, OrderingKey, Schedule
from notifications.pipeline import arrange, recur

_PREVIEWED: Final = 10
"""Occurrences on a schedule's page: to come, and made."""


@admin.register(Schedule)
class ScheduleAdmin(reading.ReadOnlyAdmin):
    """A producer's word is changed by its producer; an operator may pause it."""

    list_display = ("name", "producer", "mode", "rrule", "zone", "state", "next_at")
    list_filter = ("paused", "mode", "producer")
    list_select_related = ("producer",)
    search_fields = ("name",)
    sortable_by = ()
    actions = ("pause", "resume")
    fields = (
        *("name", "producer", "mode", "rrule", "zone", "state", "starts_at", "ends_at"),
        *("coming", "made", "request"),
    )
    readonly_fields = ("zone", "state", "coming", "made")

    def has_pause_permission(self, request: HttpRequest) -> bool:
        """Who may change schedules, although only so far."""
        return request.user.has_perm("notifications.change_schedule")

    @display(description="State", label={"active": "success", "paused": "warning"})
    def state(self, schedule: Schedule) -> str:
        """Active, paused or over."""
        if schedule.paused:
            return "paused"
        return "active" if recur.next_at(schedule, now=clock.now()) else "over"

    @display(description="Clock")
    def zone(self, schedule: Schedule) -> str:
        """On whose wall clock it runs."""
        return schedule.timezone or "the recipient's"

    @display(description="Next")
    def next_at(self, schedule: Schedule) -> dt.datetime | None:
        """Its next occurrence."""
        return recur.next_at(schedule, now=clock.now())

    @display(description="Coming occurrences, UTC")
    def coming(self, schedule: Schedule) -> str:
        """The first of them, as if it were not paused."""
        times = islice(recur.next_times(schedule, after=clock.now()), _PREVIEWED)
        lines = ((f"{at:%a %Y-%m-%d %H:%M}",) for at in times)
        return format_html_join("", "<div>{}</div>", lines) or "none"

    @display(description="Made of the latest, UTC")
    def made(self, schedule: Schedule) -> str:
        """The notification of each, or why there is none."""
        latest = schedule.occurrences.order_by("-at")[:_PREVIEWED]
        lines = ((f"{each.at:%a %Y-%m-%d %H:%M}", _outcome(each)) for each in latest)
        return format_html_join("", "<div>{}: {}</div>", lines) or "nothing yet"

    @action("Pause: withdraw what has not left", permissions=["pause"])
    def pause(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        """Nothing of them leaves until they are resumed."""
        arrange.set_paused(queryset, to=True)
        self.message_user(request, f"{queryset.count()} schedules are paused.", messages.SUCCESS)

    @action("Resume", permissions=["pause"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        """From now on; what would have occurred meanwhile is not made up for."""
        arrange.set_paused(queryset, to=False)
        self.message_user(request, f"{queryset.count()} schedules go on.", messages.SUCCESS)


def _outcome(occurrence: Occurrence) -> str:
    if occurrence.notification_id is None:
        return occurrence.problem
    page = reverse("admin:notifications_notification_change", args=[occurrence.notification_id])
    return format_html('<a href="{}">{}</a>', page, occurrence.notification_id)


@admin.register(OrderingKey)
class OrderingKeyAdmin(reading.ReadOnlyAdmin):
    """Lines: which keys are in use, and how many stand there."""

    list_display = ("key", "producer_id", "mode", "priority", "used_at", "waiting")
    search_fields = ("key__exact",)
    search_help_text = "The whole ordering key."
    sortable_by = ()

    @display(description="In line")
    def waiting(self, key: OrderingKey) -> int:
        """Deliveries that others may have to wait for."""
        return key.ordereddelivery_set.count()
