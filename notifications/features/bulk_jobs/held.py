"""Held deliveries of a resumed bulk job: they leave at the rate of the job, not at once."""

from __future__ import annotations

import datetime as dt

from django.db import transaction

from notifications.core import clock
from notifications.core.models import BulkJob, Switch
from notifications.core.rules.bulk_job import STOPPED
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db
from notifications.features.bulk_jobs import pace


def release(switch: Switch, *, limit: int, grace: dt.timedelta) -> int:
    """Give due times by the pace of the job to deliveries that a resumed switch held.

    Safe to run twice and concurrently: a delivery with a due time leaves the switch, and locked
    rows wait for the next run. Deliveries of a deleted or cancelled job are due at once, and the
    gate before the call cancels them.

    Args:
        switch: the ended switch of a bulk job.
        limit: most deliveries.
        grace: time for which the sweep `release` waits after the due time.

    Returns:
        The number of deliveries.
    """
    with transaction.atomic():
        now = clock.now()
        job = _live_job(switch)
        held = {"scheduled": Status.SCHEDULED, "switch": switch.pk, "limit": limit}
        rows = db.rows("bulk_held", held)
        if not rows or not (job is None or pace.try_lock(job)):
            return 0  # nothing is held, or a page has the slots until the next run
        times = [now] * len(rows) if job is None else pace.due_times(job, len(rows), now)
        parameters = {
            "ids": [row["id"] for row in rows],
            "times": [max(each, now) - grace for each in times],
        }
        return db.run("bulk_held_due", parameters)


def _live_job(switch: Switch) -> BulkJob | None:
    """Return the job of a switch; None for a deleted, cancelled or aborted job."""
    job = BulkJob.objects.filter(id=switch.value).first()
    return None if job is None or job.state in STOPPED else job
