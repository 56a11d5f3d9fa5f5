"""Dead letters of replay jobs: assigned in batches, so that no transaction locks all of a job.

    start       assigns the first letters, and notes the filter of the rest in the job
    each run    assigns the letters of the next ids
    the end     of the ids: the job's total loses the letters that others have closed or replayed

Only letters that are open at the start of the job join.
"""

from __future__ import annotations

from typing import Any, Final

from django.db.models import Count, F, Max, QuerySet

from notifications.core.models import DeadLetter, ReplayJob
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.store.postgres import dead_letters, locks

_AT_ONCE: Final = 1_000
"""Letters that a start assigns. A job with so many open letters waits with further ones."""
_IDS: Final = 1_000
"""Ids of a later batch. A span of ids makes PostgreSQL read by the primary key, whatever the
statistics say."""
_SPANS: Final = 500
"""Most spans without a matching letter that a batch passes."""


def assign_first(job: ReplayJob, wanted: LetterFilter) -> None:
    """Assign letters to a new job in the open transaction, and set the total.

    Letters selected by id are assigned at once.
    """
    found = dead_letters.matching(wanted)
    if wanted.ids is not None:
        job.total = found.update(replay_job=job)
        return
    first = _lock(found, limit=_AT_ONCE)
    job.total = _assign(first, job)
    if len(first) < _AT_ONCE:
        return
    rest = found.filter(pk__gt=first[-1]).aggregate(to=Max("pk"), left=Count("pk"))
    if rest["left"]:
        job.total += rest["left"]
        job.unassigned = {"letters": wanted.to_json(), "after": first[-1], **rest}


def assign_next(job: ReplayJob) -> bool:
    """Assign the next letters in the open transaction; returns False without a rest.

    A job with many letters that wait for the sweep gets no further letters, so that `release` is
    short. Waits for another runner that assigns at the same moment.
    """
    rest = _lock_rest(job)
    if rest is None:
        return False
    if DeadLetter.objects.filter(replay_job=job, resolved_at=None)[:_AT_ONCE].count() == _AT_ONCE:
        return True
    found = dead_letters.matching(LetterFilter.from_json(rest["letters"]))
    after, to, taken = rest["after"], rest["to"], 0
    for _ in range(_SPANS):
        until = min(after + _IDS, to)
        taken = _assign(_lock(found.filter(pk__gt=after, pk__lte=until)), job)
        after = until
        if taken or after >= to:
            break
    left = rest["left"] - taken
    # A job that an older release has finished goes on.
    mine = ReplayJob.objects.filter(pk=job.pk)
    if after < to:
        mine.update(unassigned={**rest, "after": after, "left": left}, finished_at=None)
        return True
    mine.update(unassigned=None, total=F("total") - left, finished_at=None)
    return False


def release(job: ReplayJob) -> int:
    """Let the letters that the job has not processed be free; returns their number."""
    rest = _lock_rest(job)
    released = DeadLetter.objects.filter(replay_job=job, resolved_at=None).update(replay_job=None)
    ReplayJob.objects.filter(pk=job.pk).update(unassigned=None)
    return released + (rest["left"] if rest else 0)


def _lock_rest(job: ReplayJob) -> dict[str, Any] | None:
    """Return the rest of a job, which no other transaction changes until the open one ends.

    The row of the job is not locked: a run locks its letters before the row, and `release` would
    lock the row before the letters, which is a deadlock.
    """
    locks.wait_for_transaction([f"rest of replay job {job.pk}"])
    return ReplayJob.objects.values_list("unassigned", flat=True).get(pk=job.pk)


def _lock(letters: QuerySet[DeadLetter], *, limit: int | None = None) -> list[int]:
    return list(letters.order_by("pk").select_for_update().values_list("pk", flat=True)[:limit])


def _assign(letter_ids: list[int], job: ReplayJob) -> int:
    return DeadLetter.objects.filter(pk__in=letter_ids).update(replay_job=job)
