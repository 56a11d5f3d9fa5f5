"""Periodic tasks of beat: interval, rows in a batch, on or off, last run and result.

An operator can change the interval or the batch, or switch a task off. The changes apply within
seconds and survive restarts and deployments; a task which is off raises an alert. Tasks cannot be
added or deleted: `migrate` creates a task for every sweep.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)
from unfold.decorators import display
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldBooleanSwitchWidget

from notifications.core import sweeps
from notifications.core.admin.actions import never
from notifications.core.admin.audited import AuditedAdmin
from notifications.core.models import SweepRun
from notifications.core.store.postgres import periodic_tasks
from notifications.core.sweeps import SWEEPS, Sweep

_LONGEST: Final = 86_400
"""Seconds. A longer interval would be equivalent to switching the sweep off."""
_LARGEST: Final = 10
"""Times the sweep's own limit. A larger batch would hold locks for longer than a second, and a
batch below the tenth part would leave the rows at its end waiting for ever in some sweeps."""

_RESULTS: Final = ("last_began", "took", "result")


class PeriodicTaskForm(forms.ModelForm[PeriodicTask]):
    """Interval, rows in a batch, on or off, and the confirmation for switching off."""

    enabled = forms.BooleanField(label="On", required=False, widget=UnfoldBooleanSwitchWidget)
    seconds = forms.IntegerField(
        label="Interval",
        min_value=1,
        max_value=_LONGEST,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Seconds between two runs. Applies within five seconds.",
    )
    limit = forms.IntegerField(
        label="Rows in a batch",
        required=False,
        min_value=1,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    confirmed = forms.BooleanField(
        label="I have read the consequences",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="Needed to switch the task off.",
    )

    class Meta:
        """The service manages the other columns."""

        model = PeriodicTask
        fields = ("enabled",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Django's signature
        super().__init__(*args, **kwargs)
        every = periodic_tasks.interval_of(self.instance)
        self.fields["seconds"].initial = int(every.total_seconds()) if every else None
        self.fields["enabled"].help_text = _stops(self.instance)
        self.fields["limit"].initial = periodic_tasks.limit_of(self.instance)
        if sweep := _sweep(self.instance):
            self.fields["limit"].help_text = f"Empty: {sweep.limit}. {_limits_text(sweep)}"

    def clean_limit(self) -> int | None:
        """Refuse a batch that is much larger or smaller than the sweep's own limit.

        Raises:
            ValidationError: the number is too large.
        """
        limit: int | None = self.cleaned_data["limit"]
        sweep = _sweep(self.instance)
        if limit is not None and sweep and not _least(sweep) <= limit <= _most(sweep):
            raise forms.ValidationError(_limits_text(sweep))
        return limit

    def clean(self) -> dict[str, Any]:
        """Require the confirmation for switching a task off."""
        cleaned = super().clean() or {}
        is_switched_off = self.initial.get("enabled") and not cleaned.get("enabled")
        if is_switched_off and not cleaned.get("confirmed"):
            self.add_error("confirmed", f"{_stops(self.instance)} Confirm to switch the task off.")
        return cleaned


def _sweep(task: PeriodicTask) -> Sweep | None:
    return SWEEPS.get(task.task.removeprefix(periodic_tasks.PREFIX))


def _stops(task: PeriodicTask) -> str:
    sweep = _sweep(task)
    return f"While it is off: {sweep.stops}" if sweep else ""


def _least(sweep: Sweep) -> int:
    return max(1, sweep.limit // _LARGEST)


def _most(sweep: Sweep) -> int:
    return _LARGEST * sweep.limit


def _limits_text(sweep: Sweep) -> str:
    return f"Give a number from {_least(sweep)} to {_most(sweep)}."


# The pages of django-celery-beat write no audit entry, and sweeps need only their intervals.
admin.site.unregister([
    PeriodicTask,
    *(ClockedSchedule, CrontabSchedule, IntervalSchedule, SolarSchedule),
])


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(AuditedAdmin):
    """A row per sweep."""

    form = PeriodicTaskForm
    list_display = ("name", "state", "every", "batch", *_RESULTS, "off_stops")
    ordering = ("name",)
    sortable_by = ()
    list_per_page = 100
    fields = ("name", "task", "enabled", "confirmed", "seconds", "limit", *_RESULTS)
    readonly_fields = ("name", "task", *_RESULTS)

    has_add_permission = never  # a task without a sweep does nothing
    has_delete_permission = never  # the next deployment would create the task again

    def get_queryset(self, request: HttpRequest) -> QuerySet[PeriodicTask]:
        """Return the tasks of sweeps, with intervals."""
        rows: QuerySet[PeriodicTask] = super().get_queryset(request)
        return rows.filter(task__startswith=periodic_tasks.PREFIX).select_related("interval")

    def get_changelist_instance(self, request: HttpRequest) -> Any:  # noqa: ANN401 - Django's types
        """Add the last runs of the tasks on the page with one query."""
        found: Any = super().get_changelist_instance(request)
        runs = SweepRun.objects.in_bulk()
        for task in found.result_list:
            task.last_run = runs.get(task.name)
        return found

    def save_model(
        self,
        request: HttpRequest,
        obj: PeriodicTask,
        form: forms.Form,
        change: bool,  # noqa: FBT001 - Django's signature
    ) -> None:
        """Save the interval and the batch in the row of django-celery-beat."""
        periodic_tasks.set_interval(obj, form.cleaned_data["seconds"])
        periodic_tasks.set_limit(obj, form.cleaned_data["limit"])
        super().save_model(request, obj, form, change)

    @display(description="State", label={"on": "success", "off": "danger"})
    def state(self, task: PeriodicTask) -> str:
        """Return `on` or `off`."""
        return "on" if task.enabled else "off"

    @display(description="Interval")
    def every(self, task: PeriodicTask) -> str:
        """Return the interval in seconds, and for most sweeps the interval without work."""
        every, sweep = periodic_tasks.interval_of(task), _sweep(task)
        if every is None:
            return "-"
        longest = sweeps.slowest(every) if sweep and sweep.work else every
        idle = f", {longest.total_seconds():g} s without work" if longest > every else ""
        return f"{every.total_seconds():g} s{idle}"

    @display(description="Rows in a batch")
    def batch(self, task: PeriodicTask) -> str:
        """Return the rows of a step of the sweep."""
        sweep = _sweep(task)
        return str(periodic_tasks.limit_of(task) or (sweep.limit if sweep else "-"))

    @display(description="Last began")
    def last_began(self, task: PeriodicTask) -> dt.datetime | None:
        """Return the start of the last run."""
        run = _run(task)
        return run.started_at if run else None

    @display(description="Took")
    def took(self, task: PeriodicTask) -> str:
        """Return the duration of the last run, or `runs`."""
        run = _run(task)
        if run is None or run.finished_at is None:
            return "-"
        seconds = (run.finished_at - run.started_at).total_seconds()
        return f"{seconds:.2f} s" if seconds >= 0 else "runs"

    @display(description="Result")
    def result(self, task: PeriodicTask) -> str:
        """Return the counts of the last finished run."""
        run = _run(task)
        return f"{run.moved} moved, {run.failed} failed" if run else "never ran"

    @display(description="Effect while off")
    def off_stops(self, task: PeriodicTask) -> str:
        """Return the effect of switching the task off."""
        sweep = _sweep(task)
        return format_html("{}", sweep.stops if sweep else "")


def _run(task: PeriodicTask) -> SweepRun | None:
    if not hasattr(task, "last_run"):  # the page of a task
        task.last_run = SweepRun.objects.filter(name=task.name).first()
    run: SweepRun | None = task.last_run
    return run
