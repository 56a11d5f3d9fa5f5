"""Stages of a bulk job: the test group, the sample of an A/B test, and all other recipients.

    test group ── wait ──> all others
    sample ── wait ──> winner ──> all others

The sweep `bulk_jobs` notes the end of a stage and chooses the winner. Only the first open range is
expanded in a test group, and its checkpoint counts the messages: several expanders together do not
exceed the group.
"""

from __future__ import annotations

import datetime as dt
from typing import Final
from uuid import UUID

from django.db.models import F, Max, Q, Sum

from notifications.core.models import BulkJob, BulkJobPace, BulkJobRange
from notifications.core.rules.bulk_job import BulkJobState

_STAGES: Final = {
    "test_group_ends_at": ("The test group is complete", "The others follow"),
    "sample_ends_at": ("The sample is complete", "The winner is chosen"),
}
"""Column with the end of a wait -> what came before, and what follows."""


def open_ranges(job: BulkJob, now: dt.datetime) -> list[int]:
    """Return the ids of the open ranges, in the order of expansion.

    The ranges of a start time wait for the ranges of the start times before, so that two expanders
    never build a message for a recipient in a move to another timezone.
    """
    found = BulkJobRange.objects.filter(job=job, finished_at=None)
    begun = list(
        found
        .filter(Q(starts_at=None) | Q(starts_at__lte=now))
        .order_by(F("starts_at").asc(nulls_first=True), "number")
        .values_list("id", "starts_at")
    )
    ids = [range_id for range_id, starts_at in begun if starts_at == begun[0][1]]
    if ids and job.test_group_size and (left := test_group_room(job, now)) is not None:
        return ids[:1] if left else []
    return ids


def test_group_room(job: BulkJob, now: dt.datetime) -> int | None:
    """Return the remaining messages of the test group; None without or after a test group."""
    if not job.test_group_size:
        return None
    ends = BulkJobPace.objects.filter(job=job).values_list("test_group_ends_at", flat=True).first()
    if ends is not None and now >= ends:
        return None
    return max(0, job.test_group_size - message_count(job.pk))


def message_count(job_id: UUID) -> int:
    """Return the number of messages of a job."""
    found = BulkJobRange.objects.filter(job=job_id).aggregate(created=Sum("accepted"))
    return found["created"] or 0


def note_test_group(job: BulkJob, now: dt.datetime) -> bool:
    """Note the end of the wait after a complete test group, once.

    The wait begins with the last message of the group.
    """
    if message_count(job.pk) < job.test_group_size:
        return False
    wait = dt.timedelta(seconds=job.test_group_seconds)
    return _note(job, "test_group_ends_at", now, wait)


def sample_end(job: BulkJob, now: dt.datetime) -> dt.datetime | None:
    """Return the time of the choice of the winner; None: the sample is incomplete.

    The time is noted when each range of the sample is done. The wait begins with the last message
    of the sample.
    """
    if BulkJobRange.objects.filter(job=job, finished_at=None).exists() or not job.winner_rule:
        return None
    wait = dt.timedelta(seconds=job.winner_rule["after_seconds"])
    _note(job, "sample_ends_at", now, wait)
    return BulkJobPace.objects.filter(job=job).values_list("sample_ends_at", flat=True).get()


def _note(job: BulkJob, column: str, now: dt.datetime, wait: dt.timedelta) -> bool:
    """Store the end of a wait, and show the end on the job; False: the end was stored before."""
    done, follows = _STAGES[column]
    BulkJobPace.objects.bulk_create([BulkJobPace(job=job)], ignore_conflicts=True)
    row = BulkJobPace.objects.filter(job=job)
    last = row.aggregate(last=Max("next_at"))["last"]
    ends_at = max(now, last or now) + wait
    if not row.filter(**{column: None}).update(**{column: ends_at}):
        return False
    running = BulkJob.objects.filter(pk=job.pk, state=BulkJobState.RUNNING)
    running.update(state_reason=_wait(done, follows, ends_at))
    return True


def move_times(job: BulkJob, *, now: dt.datetime) -> str:
    """Move the next slot of a paused job to the present, and an unfinished wait by the pause.

    A wait gets longer because the pause held messages. Slots in the pause are lost.

    The caller holds the lock of the paused job and resumes the job in the same transaction, so a
    wait is extended once for a pause.

    Returns:
        A sentence about the wait; empty without an unfinished wait.
    """
    row = BulkJobPace.objects.select_for_update().filter(job=job).first()
    paused_at = job.state_changed_at
    if row is None or paused_at is None:
        return ""
    reason = ""
    for column, (done, follows) in _STAGES.items():
        ends_at = getattr(row, column)
        if ends_at is not None and ends_at > paused_at:
            setattr(row, column, ends_at + (now - paused_at))
            reason = _wait(done, follows, ends_at + (now - paused_at))
    row.next_at = None if row.next_at is None else max(row.next_at, now)  # without a burst
    row.save(update_fields=["next_at", *_STAGES])
    return reason


def _wait(done: str, follows: str, ends_at: dt.datetime) -> str:
    return f"{done}. {follows} at {ends_at:%Y-%m-%d %H:%M:%S} UTC."
