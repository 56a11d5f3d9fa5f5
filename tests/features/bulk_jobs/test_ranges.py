"""A job on the wall clock of each recipient: one message also for a recipient who moves."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from unittest import mock

import pytest

from notifications.core import clock
from notifications.core.models import BulkJob, BulkJobRange, Notification, Recipient
from notifications.core.rules.bulk_job import BulkJobState
from notifications.features.bulk_jobs import expand, progress, stages
from tests.features.bulk_jobs.conftest import NewJob
from tests.journey import Reach

pytestmark = pytest.mark.django_db

_MIDNIGHT = dt.datetime(2026, 12, 2, tzinfo=dt.UTC)
_WEST = "America/New_York"
"""Nine o'clock is 14:00 UTC."""


def _run(job: BulkJob, *, hour: int) -> None:
    """Expand the job as far as it goes at an hour of the day in UTC."""
    with mock.patch.object(clock, "now", return_value=_MIDNIGHT + dt.timedelta(hours=hour)):
        while any(expand.expand_page(part).read for part in stages.open_ranges(job, clock.now())):
            continue
        progress.finish(job)
    job.refresh_from_db()


def _start(new_job: NewJob) -> BulkJob:
    with mock.patch.object(clock, "now", return_value=_MIDNIGHT):
        return new_job(send_at_local="09:00")


def _messages(job: BulkJob) -> Counter[str]:
    return Counter(
        Notification.objects.filter(bulk_job_id=job.pk).values_list("user_id", flat=True)
    )


def _move(user_id: str, zone: str) -> None:
    Recipient.objects.filter(user_id=user_id).update(timezone=zone)


def test_a_recipient_who_moves_west_after_the_message_gets_no_second(
    new_job: NewJob, reach: Reach
) -> None:
    for name in ("ana", "bo", "cy"):
        reach(name, email=f"{name}@sandbox.example")
    _move("cy", _WEST)
    job = _start(new_job)
    _run(job, hour=9)
    assert _messages(job) == {"ana": 1, "bo": 1}
    _move("ana", _WEST)
    _run(job, hour=14)
    assert _messages(job) == {"ana": 1, "bo": 1, "cy": 1}


def test_a_recipient_who_moves_east_before_the_message_gets_one(
    new_job: NewJob, reach: Reach
) -> None:
    for name in ("ana", "bo", "cy"):
        reach(name, email=f"{name}@sandbox.example")
    _move("cy", _WEST)
    _move("bo", _WEST)
    job = _start(new_job)
    _run(job, hour=9)
    assert _messages(job) == {"ana": 1}
    _move("bo", "UTC")
    _run(job, hour=15)
    assert _messages(job) == {"ana": 1, "bo": 1, "cy": 1}
    assert job.state == BulkJobState.FINISHED


def test_the_last_look_at_the_audience_counts_nobody_again(new_job: NewJob, reach: Reach) -> None:
    reach("ana", email="ana@sandbox.example")
    reach("bo")
    job = _start(new_job)
    _run(job, hour=9)
    assert _messages(job) == {"ana": 1}
    assert job.state == BulkJobState.RUNNING  # the last look begins behind nine o'clock
    _run(job, hour=10)
    assert _messages(job) == {"ana": 1}
    assert job.state == BulkJobState.FINISHED
    parts = BulkJobRange.objects.filter(job=job)
    assert [(each.examined, each.accepted, each.left_out) for each in parts.order_by("number")] == [
        (2, 1, {"no_contact": 1}),
        (0, 0, {}),
    ]


def test_a_later_start_waits_for_the_ranges_of_an_earlier_start(
    new_job: NewJob, reach: Reach
) -> None:
    reach("ana", email="ana@sandbox.example")
    reach("cy", email="cy@sandbox.example")
    _move("cy", _WEST)
    job = _start(new_job)
    late = _MIDNIGHT + dt.timedelta(hours=15)
    [first] = stages.open_ranges(job, late)
    assert BulkJobRange.objects.get(pk=first).starts_at == _MIDNIGHT + dt.timedelta(hours=9)
    _run(job, hour=15)
    assert _messages(job) == {"ana": 1, "cy": 1}
