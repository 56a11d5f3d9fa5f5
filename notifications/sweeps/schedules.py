"""Schedules: make notifications of what occurs within a day, and forget what occurred long ago."""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications.models import Occurrence, Schedule
from notifications.pipeline import recur
from notifications.sweeps.rounds import Swept

_KEPT: Final = dt.timedelta(days=7)
"""How long an operator sees what came of an occurrence; the notification itself stays longer."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Work through up to `limit` schedules that are due; returns how many occurrences.

    Twice is once: where a schedule stands moves with what is made of it. Late is made up for, see
    `pipeline.recur`.
    """
    due = Schedule.objects.filter(due_at__lte=now, producer__is_active=True).order_by("due_at")
    made = sum(
        recur.materialise(schedule_id, now=now)
        for schedule_id in due.values_list("id", flat=True)[:limit]
    )
    if made:
        past = Occurrence.objects.filter(at__lt=now - _KEPT).values("id")[: limit * 10]
        Occurrence.objects.filter(id__in=past).delete()
    return Swept(made)
