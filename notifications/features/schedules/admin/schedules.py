"""Schedules: next and latest occurrences; pause and resume."""

from __future__ import annotations

import datetime as dt
import json
from itertools import islice
from typing import Final

from django.contrib import admin, messages
from django.contrib.admin import EmptyFieldListFilter
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html_join
from unfold.dataclasses import UnfoldAction
from unfold.decorators import display

from notifications.core import clock
from notifications.core.admin import base
from notifications.core.admin.actions import action, requires
from notifications.core.admin.audited import name_of
from notifications.core.models import Occurrence, Schedule
from notifications.core.rules.times import local_time
from notifications.core.store.postgres import audit, late_encryption
from notifications.features.schedules import changes, occurrences

_PREVIEWED: Final = 10
"""Occurrences on a schedule's page: planned, and created."""

_COLOURS: Final = {"active": "success", "paused": "warning", "failing": "danger"}


@admin.register(Schedule)
class ScheduleAdmin(base.ReadOnlyAdmin):
    """Read-only list with actions to pause and resume; only the producer changes a schedule."""

    list_display = ("name", "producer", "mode", "rrule", "zone", "state", "next_at")
    list_filter = ("paused", ("problem", EmptyFieldListFilter), "mode", "producer")
    list_select_related = ("producer",)
    search_fields = ("name",)
    sortable_by = ()
    actions = ("pause", "resume")
    fields = (
        *("name", "producer", "mode", "rrule", "zone", "state", "starts_at", "ends_at"),
        *("problem", "retry_at", "coming", "latest_occurrences", "notification"),
    )
    readonly_fields = ("zone", "state", "coming", "latest_occurrences", "notification")

    actions_detail = ("pause_one", "resume_one")  # type: ignore[assignment]  # unfold types its default, an empty tuple

    def get_queryset(self, request: HttpRequest) -> QuerySet[Schedule]:
        """Add the next created occurrence, with a single query for the list."""
        made = Occurrence.objects.filter(schedule=OuterRef("pk"), at__gt=clock.now())
        rows: QuerySet[Schedule] = super().get_queryset(request)
        return rows.annotate(made_at=Subquery(made.order_by("at").values("at")[:1]))

    has_pause_permission = requires("notifications.change_schedule")

    @display(
        description="State", label={"active": "success", "paused": "warning", "failing": "danger"}
    )
    def state(self, schedule: Schedule) -> str:
        """Return `active`, `paused`, `failing` or `over`."""
        if schedule.paused:
            return "paused"
        if schedule.problem:
            return "failing"
        return "active" if self.next_at(schedule) else "over"

    @display(description="Notification")
    def notification(self, schedule: Schedule) -> str:
        """Return the notification of the schedule, with encrypted values masked."""
        return json.dumps(late_encryption.body_with_masks(schedule), ensure_ascii=False)

    @display(description="Timezone")
    def zone(self, schedule: Schedule) -> str:
        """Return the timezone of the rule."""
        return schedule.timezone or "the recipient's"

    @display(description="Next")
    def next_at(self, schedule: Schedule) -> dt.datetime | None:
        """Return the time of the next occurrence."""
        made: dt.datetime | None = schedule.made_at  # type: ignore[attr-defined]  # annotated above
        return made or (schedule.due_at + occurrences.AHEAD if schedule.due_at else None)

    @display(description="Coming occurrences")
    def coming(self, schedule: Schedule) -> str:
        """Return the next occurrences, whether paused or not."""
        times = islice(occurrences.next_times(schedule, after=clock.now()), _PREVIEWED)
        zone = occurrences.zone_of(schedule)
        lines = ((_on_both_clocks(at, zone),) for at in times)
        return format_html_join("", "<div>{}</div>", lines) or "none"

    @display(description="Latest occurrences")
    def latest_occurrences(self, schedule: Schedule) -> str:
        """Return the latest occurrences with notification or problem."""
        latest = schedule.occurrences.order_by("-at")[:_PREVIEWED]
        zone = occurrences.zone_of(schedule)
        lines = ((_on_both_clocks(each.at, zone), _outcome(each)) for each in latest)
        return format_html_join("", "<div>{}: {}</div>", lines) or "nothing yet"

    @action("Pause and withdraw unsent occurrences", permissions=["pause"])
    def pause(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        """Pause schedules and withdraw occurrences which have not been sent."""
        _set_paused(request, queryset, to=True)
        self.message_user(request, f"{queryset.count()} paused.", messages.SUCCESS)

    @action("Resume", permissions=["pause"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        """Resume schedules from now on, without the missed occurrences."""
        _set_paused(request, queryset, to=False)
        self.message_user(request, f"{queryset.count()} resumed.", messages.SUCCESS)

    @action("Pause", permissions=["pause"], url_path="pause", icon="pause")
    def pause_one(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask for confirmation, then pause the schedule."""
        said = "Occurrences which have not been sent are withdrawn."
        return self._ask(request, object_id, verb="Pause", consequence=said, paused=True)

    @action("Resume", permissions=["pause"], url_path="resume", icon="play_arrow")
    def resume_one(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask for confirmation, then resume the schedule."""
        said = "The schedule continues from now on. Missed occurrences are not sent."
        return self._ask(request, object_id, verb="Resume", consequence=said, paused=False)

    def get_actions_detail(self, request: HttpRequest, object_id: int) -> list[UnfoldAction]:
        """Return either Pause or Resume, according to the state."""
        is_paused = Schedule.objects.filter(pk=object_id, paused=True).exists()
        useless = "pause_one" if is_paused else "resume_one"
        offered = super().get_actions_detail(request, object_id)
        return [each for each in offered if not each.action_name.endswith(useless)]

    def _ask(
        self, request: HttpRequest, object_id: int, *, verb: str, consequence: str, paused: bool
    ) -> HttpResponse:
        """Ask for confirmation by POST, because any page could contain a link to the action."""
        schedule = get_object_or_404(Schedule, pk=object_id)
        back = reverse("admin:notifications_schedule_change", args=[schedule.pk])
        if request.method == "POST":
            _set_paused(request, Schedule.objects.filter(pk=schedule.pk), to=paused)
            self.message_user(request, f"{schedule}: {verb.lower()}d.", messages.SUCCESS)
            return HttpResponseRedirect(back)
        context = {"verb": verb, "consequence": consequence, "back": back}
        title = f"{verb}: {schedule}"
        return base.page(self, request, "admin/ask.html", title=title, context=context)


def _set_paused(request: HttpRequest, schedules: QuerySet[Schedule], *, to: bool) -> None:
    operation = "pause_schedule" if to else "resume_schedule"
    with audit.changes(name_of(request), operation, schedules):
        changes.set_paused(schedules, to=to)


def _on_both_clocks(at: dt.datetime, zone: str) -> str:
    """Format a time in UTC and in the schedule's timezone."""
    shown = f"{at:%a %Y-%m-%d %H:%M} UTC"
    if not zone:
        return shown
    return f"{shown}, {at.astimezone(local_time.zone(zone)):%a %H:%M} there"


def _outcome(occurrence: Occurrence) -> str:
    if occurrence.notification_id is None:
        return occurrence.problem
    page = reverse("admin:notifications_notification_change", args=[occurrence.notification_id])
    return base.link(page, occurrence.notification_id)
