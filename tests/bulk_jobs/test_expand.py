"""Each recipient of the audience gets one notification, or is counted with a reason."""

from __future__ import annotations

from notifications.models import BulkJobRange, Delivery, Event, Notification
from notifications.rules.bulk_jobs.states import BulkJobState
from notifications.rules.states import Status
from tests.bulk_jobs.conftest import NewJob, expand_all
from tests.journey import Reach


def test_each_recipient_gets_one_message(new_job: NewJob, reach: Reach) -> None:
    people = [reach(f"u{n}", email=f"u{n}@sandbox.example") for n in range(7)]
    job = new_job()
    expand_all(job, limit=3)
    rows = Notification.objects.filter(bulk_job_id=job.pk)
    assert sorted(row.recipient_id for row in rows) == [each.pk for each in people]
    assert job.state == BulkJobState.FINISHED
    [part] = BulkJobRange.objects.filter(job=job)
    assert (part.examined, part.accepted, part.left_out) == (7, 7, {})
    deliveries = Delivery.objects.all()
    assert {row.status for row in deliveries} == {Status.QUEUED}
    assert Event.objects.count() == len(deliveries) == 7
