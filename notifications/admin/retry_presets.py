"""Retry presets: read, edited and added here, with the timetable that a preset makes."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar, Final

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from unfold.decorators import display

from notifications.admin.audited import AuditedAdmin
from notifications.models import NotificationType, RetryPreset
from notifications.rules import retries
from notifications.rules.retries import PRESETS, Try
from notifications.store.cached import retry_presets

_THINNEST: Final = 0.6
"""Per cent of the timetable's width that a bar has at least."""


@admin.register(RetryPreset)
class RetryPresetAdmin(AuditedAdmin):
    """A change acts within two seconds, on the next retry of what is already waiting too."""

    list_display = ("name", "delays", "attempts", "jitter", "gives_up_after", "drops", "origin")
    fields = (
        *("name", "base_seconds", "multiplier", "cap_seconds", "attempts", "jitter", "drops"),
        "timetable",
    )
    readonly_fields = ("timetable",)
    actions = ("restore",)
    sortable_by = ()

    class Media:
        """The timetable's colours."""

        css: ClassVar = {"all": ("notifications/console.css",)}

    def get_readonly_fields(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        obj: RetryPreset | None = None,
    ) -> tuple[str, ...]:
        """A preset is known by its name, so the name is given once."""
        return ("name", "timetable") if obj else ("timetable",)

    def has_delete_permission(self, request: HttpRequest, obj: RetryPreset | None = None) -> bool:
        """A shipped preset, and one that a notification type uses, cannot be deleted."""
        if obj and (obj.name in PRESETS or _is_used(obj.name)):
            return False
        return super().has_delete_permission(request, obj)

    @display(description="Delays")
    def delays(self, row: RetryPreset) -> str:
        """Base, multiplier and cap in short."""
        return f"{row.base_seconds:g} s x {row.multiplier:g}, at most {row.cap_seconds:g} s"

    @display(description="Gives up after")
    def gives_up_after(self, row: RetryPreset) -> str:
        """Time from the first call to the last, at the longest."""
        tries = retries.timetable(retry_presets.preset_of(row))
        return _in_words(tries[-1].latest.total_seconds()) if tries else "the first call"

    @display(
        description="Origin", label={"shipped": "info", "changed": "warning", "own": "success"}
    )
    def origin(self, row: RetryPreset) -> str:
        """Whether the row is shipped, changed or added here."""
        shipped = PRESETS.get(row.name)
        if shipped is None:
            return "own"
        return "shipped" if retry_presets.preset_of(row) == shipped else "changed"

    @display(description="Timetable")
    def timetable(self, row: RetryPreset) -> SafeString:
        """Each retry as a bar from its earliest to its latest moment."""
        if not row.name:
            return SafeString("Save the preset to see its timetable.")
        tries = retries.timetable(retry_presets.preset_of(row))
        bars = [_bar(each, end=tries[-1].latest) for each in tries]
        ends = "without a dead letter" if row.drops else "with a dead letter"
        return render_to_string("admin/retry_timetable.html", {"bars": bars, "ends": ends})

    @admin.action(description="Restore the shipped values")
    def restore(self, request: HttpRequest, rows: QuerySet[RetryPreset]) -> None:
        """Undo changes of shipped presets; own presets stay as they are."""
        shipped = [PRESETS[row.name] for row in rows if row.name in PRESETS]
        for preset in shipped:
            columns: dict[str, Any] = retry_presets.columns_of(preset)
            RetryPreset.objects.filter(name=preset.name).update(**columns)
        messages.success(request, f"{len(shipped)} presets have their shipped values.")


def _bar(retry: Try, *, end: dt.timedelta) -> dict[str, object]:
    """A row of the timetable; `left` and `width` are per cent of the time to the last retry."""
    return {
        "number": retry.number,
        "wait": _range(retry.shortest, retry.longest),
        "after": _range(retry.earliest, retry.latest),
        "left": retry.earliest / end * 100,
        "width": max(_THINNEST, (retry.latest - retry.earliest) / end * 100),
    }


def _is_used(name: str) -> bool:
    return NotificationType.objects.filter(retry_preset=name).exists()


def _range(low: dt.timedelta, high: dt.timedelta) -> str:
    first, last = _in_words(low.total_seconds()), _in_words(high.total_seconds())
    return first if first == last else f"{first} to {last}"


def _in_words(seconds: float) -> str:
    minute, hour = 60, 3600
    if seconds < minute:
        return f"{seconds:.3g} s"
    if seconds < hour:
        return f"{seconds / minute:.3g} min"
    return f"{seconds / hour:.3g} h"
