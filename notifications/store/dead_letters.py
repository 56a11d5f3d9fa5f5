"""Dead letters and the jobs that replay them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from django.db.models import F, QuerySet

from notifications import clock
from notifications.models import DeadLetter, ReplayJob
from notifications.rules.letters import LetterFilter


def narrow(letters: QuerySet[DeadLetter], wanted: LetterFilter) -> QuerySet[DeadLetter]:
    """Those of the letters, open or resolved, that a filter means."""
    conditions = {
        "pk__in": wanted.ids,
        "reason": wanted.reason or None,
        "channel": wanted.channel,
        "provider": wanted.provider or None,
        "created_at__gte": wanted.since,
        "created_at__lt": wanted.until,
        "producer_id": wanted.producer_id,
        "mode": wanted.mode,
    }
    return letters.filter(**{
        name: value for name, value in conditions.items() if value is not None
    })


def matching(wanted: LetterFilter) -> QuerySet[DeadLetter]:
    """Open letters that match; none that a replay job has in hand."""
    return narrow(DeadLetter.objects.filter(resolved_at=None, replay_job=None), wanted)


def next_of(job: ReplayJob, *, limit: int) -> list[DeadLetter]:
    """The next letters of a job, locked; those that another runner has are skipped."""
    letters = DeadLetter.objects.filter(replay_job=job, resolved_at=None).order_by("delivery_id")
    return list(letters.select_for_update(skip_locked=True)[:limit])


def resolve(letters: Sequence[DeadLetter], resolution: str) -> int:
    """Close letters; those that are closed already stay as they are."""
    return DeadLetter.objects.filter(
        id__in=[letter.id for letter in letters], resolved_at=None
    ).update(resolved_at=clock.now(), resolution=resolution)


def count(job: ReplayJob, *, replayed: int, skipped: int) -> None:
    """Add to a job's progress."""
    ReplayJob.objects.filter(id=job.id).update(
        replayed=F("replayed") + replayed, skipped=F("skipped") + skipped
    )


def discard_older_than(age: dt.timedelta, *, limit: int) -> int:
    """Delete letters past retention; returns how many."""
    old = DeadLetter.objects.filter(created_at__lt=clock.now() - age).values("id")[:limit]
    deleted, _ = DeadLetter.objects.filter(id__in=old).delete()
    return deleted
