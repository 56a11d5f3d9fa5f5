"""Each recipient of the audience gets one notification, or is counted with a reason."""

from __future__ import annotations

import datetime as dt
import itertools
from collections import Counter

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.models import (
    Audience,
    BulkJob,
    BulkJobRange,
    Delivery,
    Event,
    Notification,
    Preference,
    Producer,
    Recipient,
    Suppression,
    Template,
)
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.store.postgres import erasure, late_encryption, partitions, secret_variables
from notifications.features.audiences.rows import members
from notifications.features.bulk_jobs import expand, ranges, stages
from notifications.features.bulk_jobs import rows as bulk_rows
from providers.contract import Channel
from tests.features.bulk_jobs.conftest import NewJob, due_gaps, expand_all, expand_at_once
from tests.journey import Reach


def _people(reach: Reach, count: int) -> list[int]:
    return [reach(f"u{n}", email=f"u{n}@sandbox.example").pk for n in range(count)]


def _recipients(job: BulkJob) -> list[int]:
    rows = Notification.objects.filter(bulk_job_id=job.pk)
    return sorted(rows.values_list("recipient_id", flat=True))


def _left_out(job: BulkJob) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in BulkJobRange.objects.filter(job=job):
        total.update(part.left_out)
    return dict(total)


def test_each_recipient_gets_one_message(new_job: NewJob, reach: Reach) -> None:
    people = _people(reach, 7)
    job = new_job(metadata={"tab\there": "100 % \\ true\n"})
    expand_all(job, limit=3)
    assert _recipients(job) == people
    assert job.state == BulkJobState.FINISHED
    [part] = BulkJobRange.objects.filter(job=job)
    assert (part.examined, part.accepted, part.left_out) == (7, 7, {})
    deliveries = Delivery.objects.all()
    assert {row.status for row in deliveries} == {Status.QUEUED}
    assert Event.objects.count() == len(deliveries) == 7
    rows = list(Notification.objects.filter(bulk_job_id=job.pk))
    assert {row.metadata["tab\there"] for row in rows} == {"100 % \\ true\n"}
    assert {row.expires_at - row.created_at for row in rows} == {dt.timedelta(days=1)}


def test_a_recipient_without_a_message_is_counted_by_reason(new_job: NewJob, reach: Reach) -> None:
    reach("a", email="a@sandbox.example")
    off = reach("b", email="b@sandbox.example")
    Preference.objects.create(recipient=off, categories_off=["social"])
    reach("c", email="c@sandbox.example")
    Suppression.objects.create(
        channel=Channel.EMAIL, address="c@sandbox.example", reason="complaint"
    )
    reach("d")
    job = new_job()
    expand_all(job)
    assert len(_recipients(job)) == 1
    assert _left_out(job) == {"opted_out": 1, "suppression_list": 1, "no_contact": 1}
    assert Delivery.objects.count() == 1


def test_a_channel_without_a_text_is_not_used(new_job: NewJob, reach: Reach) -> None:
    reach("a", chat="https://chat.example/1")
    reader = reach("b", chat="https://chat.example/2", email="b@sandbox.example")
    for row in Recipient.objects.all():
        Preference.objects.create(recipient=row, channel_order=[Channel.CHAT, Channel.EMAIL])
    Preference.objects.filter(recipient__user_id="a").update(channel_order=[Channel.CHAT])
    job = new_job(channels=[])
    expand_all(job)
    assert _recipients(job) == [reader.pk]
    assert _left_out(job) == {"no_text": 1}
    assert Delivery.objects.get().channel == Channel.EMAIL


def test_sensitive_variables_are_sealed(new_job: NewJob, reach: Reach) -> None:
    _people(reach, 2)
    job = new_job(variables={"name": "Hi", "code": "123456"})
    assert job.variables == {"name": "Hi"}
    assert job.secrets is not None
    assert b"123456" not in bytes(job.secrets)
    expand_all(job)
    assert job.secrets is None
    assert Notification.objects.count() == 2
    for row in Notification.objects.filter(bulk_job_id=job.pk):
        assert row.variables == {"name": "Hi"}
        assert row.secrets is not None
        assert secret_variables.decrypt(bytes(row.secrets)).reveal() == {"code": "123456"}


def test_a_variable_that_becomes_sensitive_during_a_job_is_sealed(
    new_job: NewJob, reach: Reach
) -> None:
    _people(reach, 4)
    job = new_job()
    [part] = stages.open_ranges(job, clock.now())
    expand.expand_page(part, limit=2)
    late_encryption.begin(Template.objects.get(id=job.template), ["name"])
    job.refresh_from_db()
    assert job.variables == {}
    expand_all(job)
    later = Notification.objects.filter(bulk_job_id=job.pk).order_by("recipient_id")[2:]
    assert [row.variables for row in later] == [{}, {}]
    sealed = [secret_variables.decrypt(bytes(row.secrets or b"")).reveal() for row in later]
    assert sealed == [{"name": "Hi", "code": "1"}] * 2


def test_an_erased_recipient_leaves_the_audiences(new_job: NewJob, reach: Reach) -> None:
    _people(reach, 3)
    several = {"and": [{"user_ids": ["u0", "u1"]}, {"not": {"user_ids": ["u0"]}}]}
    job, own = new_job(audience=several), new_job(audience={"user_ids": ["u0"]})
    saved = Audience.objects.create(name="few", expression={"user_ids": ["u0", "u2"]})
    erasure.begin(mode=Mode.LIVE, user_id="u0", requested_by="test", by="test")
    saved.refresh_from_db()
    assert saved.expression == {"user_ids": ["u2"]}
    for each, left in ((job, 1), (own, 0)):
        each.refresh_from_db()
        assert "u0" not in str(each.audience)
        expand_all(each)
        assert (len(_recipients(each)), each.state) == (left, BulkJobState.FINISHED)


def test_a_moved_checkpoint_undoes_the_whole_page(
    new_job: NewJob, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    _people(reach, 3)
    job = new_job()
    [part] = stages.open_ranges(job, clock.now())
    insert = bulk_rows.insert

    def insert_late(*rows: object, **options: object) -> None:
        insert(*rows, **options)  # type: ignore[arg-type]  # as given
        BulkJobRange.objects.filter(id=part).update(cursor=10**9)

    monkeypatch.setattr(bulk_rows, "insert", insert_late)
    assert expand.expand_page(part).accepted == 0
    assert _recipients(job) == []
    monkeypatch.setattr(bulk_rows, "insert", insert)
    expand_all(job)
    assert len(_recipients(job)) == 3


@pytest.mark.parametrize("state", [BulkJobState.PAUSED, BulkJobState.CANCELLED])
def test_a_page_of_a_stopped_job_is_undone(
    state: BulkJobState, new_job: NewJob, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    _people(reach, 3)
    job = new_job()
    [part] = stages.open_ranges(job, clock.now())
    insert = bulk_rows.insert

    def stop(*rows: object, **options: object) -> None:
        insert(*rows, **options)  # type: ignore[arg-type]  # as given
        BulkJob.objects.filter(id=job.pk).update(state=state)

    monkeypatch.setattr(bulk_rows, "insert", stop)
    assert expand.expand_page(part).accepted == 0
    assert _recipients(job) == []


@pytest.mark.django_db(transaction=True)
def test_expanders_at_once_skip_nobody_and_repeat_nobody(
    new_job: NewJob, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranges, "SMALLEST", 20)
    people = _people(reach, 100)
    job = new_job()
    assert BulkJobRange.objects.filter(job=job).count() > 1
    expand_at_once(job, limit=7)
    job.refresh_from_db()
    assert _recipients(job) == people
    assert job.state == BulkJobState.FINISHED
    parts = BulkJobRange.objects.filter(job=job)
    assert sum(part.accepted for part in parts) == sum(part.examined for part in parts) == 100


def test_a_row_that_postgres_refuses_leaves_out_one_recipient(
    new_job: NewJob, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = _people(reach, 9)
    job = new_job()
    insert = bulk_rows.insert

    def poison(messages: list[bulk_rows.NewMessage], *, now: dt.datetime) -> None:
        wrong = [each._replace(variables='{"x": "\\u0000"}') for each in messages]
        insert(
            [
                bad if each.recipient_id == people[4] else each
                for each, bad in zip(messages, wrong, strict=True)
            ],
            now=now,
        )

    monkeypatch.setattr(bulk_rows, "insert", poison)
    expand_all(job)
    assert _recipients(job) == people[:4] + people[5:]
    assert _left_out(job) == {"failed": 1}
    assert job.state == BulkJobState.FINISHED


def test_a_recipient_deleted_during_the_page_is_left_out(
    new_job: NewJob, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = _people(reach, 3)
    job = new_job()
    read = members.page

    def erase(*given: object, **options: object) -> object:
        found = read(*given, **options)  # type: ignore[arg-type]  # as given
        Recipient.objects.filter(id=people[1]).delete()
        return found

    monkeypatch.setattr(members, "page", erase)
    expand_all(job)
    assert _recipients(job) == [people[0], people[2]]
    assert _left_out(job) == {"erased": 1}


def test_a_job_deleted_with_its_producer_stores_nothing(
    new_job: NewJob, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    _people(reach, 3)
    job = new_job()
    [part] = stages.open_ranges(job, clock.now())
    insert = bulk_rows.insert

    def delete(*rows: object, **options: object) -> None:
        insert(*rows, **options)  # type: ignore[arg-type]  # as given
        Producer.objects.filter(id=job.producer_id).delete()

    monkeypatch.setattr(bulk_rows, "insert", delete)
    assert expand.expand_page(part).accepted == 0
    monkeypatch.setattr(bulk_rows, "insert", insert)
    assert _recipients(job) == []
    Producer.objects.filter(id=job.producer_id).delete()
    assert expand.expand_page(part).accepted == 0


@pytest.mark.django_db(transaction=True)
def test_a_missing_day_is_created(new_job: NewJob, reach: Reach) -> None:
    people = _people(reach, 2)
    job = new_job()
    today = clock.now().date()
    with connection.cursor() as running:
        for table in partitions.TABLES:
            running.execute(f"DROP TABLE IF EXISTS {table}_{today:%Y%m%d}")
    expand_all(job)
    assert _recipients(job) == people


def test_a_page_at_midnight_has_one_day(
    new_job: NewJob, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = _people(reach, 2)
    job = new_job()
    [part] = stages.open_ranges(job, clock.now())
    later = clock.now() + dt.timedelta(days=40)  # neither day has a partition
    midnight = dt.datetime.combine(later.date(), dt.time(), tzinfo=dt.UTC)
    before, after = midnight - dt.timedelta(milliseconds=2), midnight + dt.timedelta(seconds=1)
    readings = itertools.chain([before], itertools.repeat(after))
    monkeypatch.setattr(clock, "now", lambda: next(readings))
    assert expand.expand_page(part).accepted == 2
    assert _recipients(job) == people
    assert _left_out(job) == {}
    rows = Notification.objects.filter(bulk_job_id=job.pk)
    assert {row.created_at for row in rows} == {before}


def test_a_process_that_was_stopped_before_its_page_stores_no_expired_message(
    new_job: NewJob, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = _people(reach, 2)
    job = new_job(ttl_seconds=60)
    [part] = stages.open_ranges(job, clock.now())
    real = clock.now
    readings = itertools.chain([real() - dt.timedelta(minutes=2)], iter(real, None))
    with monkeypatch.context() as stopped:
        stopped.setattr(clock, "now", lambda: next(readings))
        assert expand.expand_page(part).accepted == 0
    expand_all(job)
    assert _recipients(job) == people
    rows = Notification.objects.filter(bulk_job_id=job.pk)
    assert all(row.expires_at > clock.now() for row in rows)


def test_a_future_due_time_is_kept_and_is_the_send_time(new_job: NewJob, reach: Reach) -> None:
    _people(reach, 5)
    job = new_job(rate_per_second=0.1)
    expand_all(job, limit=5)
    assert due_gaps() == {10}
    for row in Notification.objects.filter(bulk_job_id=job.pk).order_by("scheduled_at"):
        begin = row.scheduled_at or row.created_at
        assert row.expires_at - begin == dt.timedelta(days=1)
