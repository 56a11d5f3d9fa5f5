"""Erasing a person: at once their row, contacts and wishes; by a job all that was sent to them.

What is kept: deliveries and attempts without an address, for counts and bills; entries of the
suppression list, because an address that opted out must stay out; the job itself. Answers under
idempotency keys end within 24 hours by themselves.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from django.db import transaction
from django.db.models import F

from notifications.models import DeadLetter, ErasureJob, Recipient, Rejected
from notifications.rules.lane import Mode
from notifications.store.postgres import db

_GRACE: Final = dt.timedelta(minutes=1)
"""A request that was being accepted while its recipient was erased has stored its rows by then."""


def begin(*, mode: Mode, user_id: str, by: str) -> ErasureJob | None:
    """Remove a recipient and make the job that removes the rest; None: there is none."""
    with transaction.atomic():
        recipient = Recipient.objects.select_for_update().filter(mode=mode, user_id=user_id).first()
        if recipient is None:
            return None
        job = ErasureJob.objects.create(mode=mode, recipient_id=recipient.pk, requested_by=by)
        Rejected.objects.filter(user_id=user_id).update(user_id="")
        recipient.delete()
    return job


def open_jobs(*, limit: int) -> list[ErasureJob]:
    """The oldest jobs that are not done."""
    return list(ErasureJob.objects.filter(finished_at=None).order_by("id")[:limit])


def work_off(job: ErasureJob, *, now: dt.datetime, limit: int) -> int:
    """Remove up to so many notifications of a job; returns how many. Safe to run twice."""
    parameters = {"recipient": job.recipient_id, "limit": limit}
    with transaction.atomic():
        removed = len(db.rows("erase_notifications", parameters))
        letters = DeadLetter.objects.filter(mode=job.mode, recipient_id=job.recipient_id)
        letters.exclude(snapshot={}).update(snapshot={}, detail="")
        letters.filter(resolved_at=None).update(resolved_at=now, resolution="recipient erased")
        mine = ErasureJob.objects.filter(pk=job.pk, finished_at=None)
        if removed:
            mine.update(notifications=F("notifications") + removed)
        elif now - job.created_at > _GRACE:
            mine.update(finished_at=now)
    return removed
