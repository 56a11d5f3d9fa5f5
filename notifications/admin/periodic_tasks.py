"""Periodic tasks: what beat sends, how often, when it last ran and what came of it.

An operator changes the interval or switches a task off. Both are in force within seconds, survive
restarts and deployments, and a task that is off stays an alert. There are no pages to add or delete
one: `migrate` creates a task for each sweep.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django_celery_beat.models import PeriodicTask
from unfold.decorators import display
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldBooleanSwitchWidget

from notifications.admin.audited import AuditedAdmin
from notifications.models import SweepRun
from notifications.store.postgres import periodic_tasks
from notifications.sweeps import SWEEPS

_LONGEST: Final = 86_400
"""Seconds. A sweep that runs less than once a day is as good as off."""


class PeriodicTaskForm(forms.ModelForm[PeriodicTask]):
    """Interval, on or off, and the confirmation that the latter needs."""

    enabled = forms.BooleanField(label="On", required=False, widget=UnfoldBooleanSwitchWidget)
    seconds = forms.IntegerField(
        label="Interval",
        min_value=1,
        max_value=_LONGEST,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Seconds between two runs. In force within five seconds.",
    )
    confirmed = forms.BooleanField(
        label="I have read what stops",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="Needed to switch the task off.",
    )

    class Meta:
        """The rest of the row is the service's own."""

        model = PeriodicTask
        fields = ("enabled",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Django's signature
        super().__init__(*args, **kwargs)
        every = periodic_tasks.interval_of(self.instance)
        self.fields["seconds"].initial = int(every.total_seconds()) if every else None
        self.fields["enabled"].help_text = _stops(self.instance)

    def clean(self) -> dict[str, Any]:
        """Ask for the confirmation before a task is switched off."""
        cleaned = super().clean() or {}
        is_switched_off = self.initial.get("enabled") and not cleaned.get("enabled")
        if is_switched_off and not cleaned.get("confirmed"):
            self.add_error("confirmed", f"{_stops(self.instance)} Confirm that you want this.")
        return cleaned


def _stops(task: PeriodicTask) -> str:
    sweep = SWEEPS.get(task.name)
    return f"While it is off: {sweep.stops}" if sweep else ""


admin.site.unregister(PeriodicTask)


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(AuditedAdmin):
    """One row for each sweep."""

    form = PeriodicTaskForm
    list_display = ("name", "state", "interval", "last_began", "took", "result", "off_stops")
    ordering = ("name",)
    sortable_by = ()
    fields = ("name", "task", "enabled", "confirmed", "seconds", "last_began", "took", "result")
    readonly_fields = ("name", "task", "last_began", "took", "result")

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - Django's signature
        """Nobody: a task without a sweep does nothing."""
        return False

    def has_delete_permission(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        obj: PeriodicTask | None = None,  # noqa: ARG002 - Django's signature
    ) -> bool:
        """Nobody: the next deployment would create it again."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[PeriodicTask]:
        """The sweeps' tasks, with their intervals."""
        rows: QuerySet[PeriodicTask] = super().get_queryset(request)
        return rows.filter(task__startswith=periodic_tasks.PREFIX).select_related("interval")

    def save_model(
        self,
        request: HttpRequest,
        obj: PeriodicTask,
        form: forms.Form,
        change: bool,  # noqa: FBT001 - Django's signature
    ) -> None:
        """Save the interval as django-celery-beat has it."""
        periodic_tasks.set_interval(obj, form.cleaned_data["seconds"])
        super().save_model(request, obj, form, change)

    @display(description="State", label={"on": "success", "off": "danger"})
    def state(self, task: PeriodicTask) -> str:
        """On or off."""
        return "on" if task.enabled else "off"

    @display(description="Interval")
    def interval(self, task: PeriodicTask) -> str:
        """In seconds."""
        every = periodic_tasks.interval_of(task)
        return f"{every.total_seconds():g} s" if every else "-"

    @display(description="Last began")
    def last_began(self, task: PeriodicTask) -> dt.datetime | None:
        """When a worker last began it."""
        run = _run(task)
        return run.started_at if run else None

    @display(description="Took")
    def took(self, task: PeriodicTask) -> str:
        """How long that run took, or that it goes on."""
        run = _run(task)
        if run is None or run.finished_at is None:
            return "-"
        seconds = (run.finished_at - run.started_at).total_seconds()
        return f"{seconds:.2f} s" if seconds >= 0 else "runs"

    @display(description="Result")
    def result(self, task: PeriodicTask) -> str:
        """What the last run that ended changed."""
        run = _run(task)
        return f"{run.moved} moved, {run.failed} failed" if run else "never ran"

    @display(description="What stops while it is off")
    def off_stops(self, task: PeriodicTask) -> str:
        """In the words that its page asks to be confirmed."""
        sweep = SWEEPS.get(task.name)
        return format_html("{}", sweep.stops if sweep else "")


def _run(task: PeriodicTask) -> SweepRun | None:
    return SweepRun.objects.filter(name=task.name).first()
