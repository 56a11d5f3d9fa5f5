"""Retry presets: list, edit and add, with a timetable of retries."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar, Final

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from unfold.decorators import display

from notifications.core.admin.audited import AuditedAdmin
from notifications.core.models import NotificationType, RetryPreset
from notifications.core.rules import retries
from notifications.core.rules.retries import PRESETS, Try
from notifications.core.store.cached import retry_presets

_THINNEST: Final = 0.6
"""Minimum width of a bar, in per cent of the timetable's width."""


@admin.register(RetryPreset)
class RetryPresetAdmin(AuditedAdmin):
    """A change applies within two seconds, to the next retry of waiting deliveries too."""

    list_display = ("name", "delays", "attempts", "jitter", "gives_up_after", "drops", "origin")
    fields = (
        *("name", "base_seconds", "multiplier", "cap_seconds", "attempts", "jitter", "drops"),
        "timetable",
    )
    readonly_fields = ("timetable",)
    actions = ("restore",)
    sortable_by = ()

    class Media:
        """Colours of the timetable."""

        css: ClassVar = {"all": ("notifications/console.css",)}

    def get_readonly_fields(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        obj: RetryPreset | None = None,
    ) -> tuple[str, ...]:
        """Return the read-only fields; the name is the primary key and cannot change."""
        return ("name", "timetable") if obj else ("timetable",)

    def has_delete_permission(self, request: HttpRequest, obj: RetryPreset | None = None) -> bool:
        """Return False for a shipped preset and for a preset used by a notification type."""
        if obj and (obj.name in PRESETS or _is_used(obj.name)):
            return False
        return super().has_delete_permission(request, obj)

    @display(description="Delays")
    def delays(self, row: RetryPreset) -> str:
        """Base, multiplier and cap in short."""
        return f"{row.base_seconds:g} s x {row.multiplier:g}, at most {row.cap_seconds:g} s"

    @display(description="Gives up after")
    def gives_up_after(self, row: RetryPreset) -> str:
        """Return the longest time from the first call to the last call."""
        tries = retries.timetable(retry_presets.preset_of(row))
        return _in_words(tries[-1].latest.total_seconds()) if tries else "the first call"

    @display(
        description="Origin", label={"shipped": "info", "changed": "warning", "own": "success"}
    )
    def origin(self, row: RetryPreset) -> str:
        """Return `shipped`, `changed` or `own`."""
        shipped = PRESETS.get(row.name)
        if shipped is None:
            return "own"
        return "shipped" if retry_presets.preset_of(row) == shipped else "changed"

    @display(description="Timetable")
    def timetable(self, row: RetryPreset) -> SafeString:
        """Render the retries as bars from the earliest to the latest time."""
        if not row.name:
            return SafeString("Save the preset to see its timetable.")
        tries = retries.timetable(retry_presets.preset_of(row))
        bars = [_bar(each, end=tries[-1].latest) for each in tries]
        ends = "without a dead letter" if row.drops else "with a dead letter"
        return render_to_string("admin/retry_timetable.html", {"bars": bars, "ends": ends})

    @admin.action(description="Restore the shipped values")
    def restore(self, request: HttpRequest, rows: QuerySet[RetryPreset]) -> None:
        """Restore shipped presets; other presets stay unchanged."""
        shipped = [PRESETS[row.name] for row in rows if row.name in PRESETS]
        for preset in shipped:
            columns: dict[str, Any] = retry_presets.columns_of(preset)
            RetryPreset.objects.filter(name=preset.name).update(**columns)
        messages.success(request, f"{len(shipped)} presets have their shipped values.")


def _bar(retry: Try, *, end: dt.timedelta) -> dict[str, object]:
    """Return a row of the timetable; `left` and `width` are per cent of the total time."""
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
