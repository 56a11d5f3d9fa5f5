"""Days for tests: the removal of a past day with rows, and a new count of the present days."""

from __future__ import annotations

import datetime as dt

from django.db import connection

from notifications.core import clock
from notifications.core.models import ArchiveDay, ArchiveState, Event
from notifications.core.store.postgres import partitions, rollups


def drop_day(day: dt.date) -> None:
    """Drop the partitions of a day without an archive, if there are any."""
    ArchiveDay.objects.update_or_create(
        day=day, defaults={"state": ArchiveState.NOT_ARCHIVED, "dropped_at": clock.now()}
    )
    with connection.cursor() as running:
        if "delivery" in partitions.present(day):
            running.execute(f"UPDATE delivery_{day:%Y%m%d} SET due_at = NULL")  # noqa: S608 - a date
    assert partitions.freeze(day)
    assert partitions.drop_frozen(day) == {}
    ArchiveDay.objects.filter(day=day).delete()


def recount_days() -> None:
    """Count each day with events again; a test that runs at midnight has events of two days."""
    for day in sorted(set(Event.objects.values_list("at__date", flat=True))):
        rollups.recount(day)
