"""A cancel job stops what matches and has not left, goes on after a kill, and can be stopped."""

from __future__ import annotations

import datetime as dt
from uuid import UUID

import psycopg
import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.models import (
    AuditEntry,
    CancelJob,
    Delivery,
    Notification,
    Producer,
    Template,
)
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.sweeps import rounds
from notifications.features.cancel_jobs import jobs as operations
from notifications.features.cancel_jobs import sweep
from notifications.features.cancel_jobs.jobs import CancelFilter
from tests.sweeps.conftest import MakeRow

HOUR = dt.timedelta(hours=1)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("broker")]


def _run() -> rounds.Swept:
    return sweep.run_once(now=clock.now(), limit=20)


def _start(**wanted: object) -> CancelJob:
    given = CancelFilter(**wanted)  # type: ignore[arg-type]  # fields of the filter
    return operations.start(given, requested_by="maria", by="maria")


def _status(row: UUID) -> Status:
    return Status(Delivery.objects.values_list("status", flat=True).get(id=row))


def _change(row: UUID, **columns: object) -> None:
    Notification.objects.filter(id=ids.notification_of(row)).update(**columns)


def test_what_matches_and_has_not_left_is_cancelled(make_row: MakeRow) -> None:
    waiting = [make_row(each) for each in (Status.QUEUED, Status.SCHEDULED, Status.RETRYING)]
    claimed, gone = make_row(Status.SENDING), make_row(Status.SENT, due_at=None)
    other = make_row()
    _change(other, type="OTHER")
    job = _start(type="TEST")
    late = make_row()
    Notification.objects.filter(id=ids.notification_of(late)).update(created_at=clock.now())
    _run()
    job.refresh_from_db()
    assert {_status(row) for row in waiting} == {Status.CANCELLED}
    assert _status(other) is Status.QUEUED
    assert _status(gone) is Status.SENT
    # In the hands of a worker: no retry and no fallback follow.
    assert _status(claimed) is Status.SENDING
    assert Notification.objects.get(id=ids.notification_of(claimed)).cancelled_at is not None
    assert (job.cancelled, job.stopped) == (4, 3)
    assert job.finished_at is not None
    assert operations.percent(job) == 100
    [entry] = AuditEntry.objects.filter(operation="cancel_notifications")
    assert (entry.by, entry.after["type"]) == ("maria", "TEST")


def test_a_chain_whose_member_was_sent_opens_no_further_channel(make_row: MakeRow) -> None:
    later = clock.now() + HOUR
    in_window = make_row(Status.SENT, falls_back=True, due_at=later)
    until_bounce = make_row(Status.SENT, falls_back=True, due_at=None)
    unanswered = make_row(Status.UNKNOWN, due_at=later)
    arrived = make_row(Status.DELIVERED, falls_back=True, due_at=None)
    over = make_row(Status.SENT, falls_back=True, due_at=None)
    for row in (in_window, until_bounce, unanswered, arrived):
        _change(row, expires_at=later, falls_back=True)
    _change(over, expires_at=clock.now() - HOUR, falls_back=True)
    job = _start(type="TEST")
    _run()
    cancelled = Notification.objects.exclude(cancelled_at=None).values_list("id", flat=True)
    assert set(cancelled) == {
        ids.notification_of(row) for row in (in_window, until_bounce, unanswered)
    }
    assert {_status(row) for row in (in_window, until_bounce, over)} == {Status.SENT}
    job.refresh_from_db()
    assert (job.cancelled, job.stopped) == (3, 0)


def test_each_field_of_the_filter_narrows(make_row: MakeRow) -> None:
    producer = Producer.objects.create(name="marketing")
    template = Template.objects.create(template_id="sale")
    row, other = make_row(priority=Priority.P3), make_row()
    _change(other, producer_id=producer.pk + 1)
    _change(row, producer_id=producer.pk, template=template.pk, metadata={"campaign": "x", "n": 1})
    older = clock.now() - HOUR
    matching: list[dict[str, object]] = [
        {"producer_id": producer.pk},
        {"template_id": "sale"},
        {"priority": Priority.P3},
        {"metadata": {"campaign": "x"}},
        {"ids": (ids.notification_of(row),)},
    ]
    for wanted in matching:
        assert operations.preview(CancelFilter(**wanted)).by_priority == {Priority.P3: 1}  # type: ignore[arg-type]  # as above
    for nothing in ({"mode": Mode.TEST}, {"until": older}, {"template_id": "unknown"}):
        assert operations.preview(CancelFilter(**nothing)).total == 0
    assert operations.preview(CancelFilter(since=older)).total == 2
    _start(metadata={"campaign": "x"})
    _run()
    assert (_status(row), _status(other)) == (Status.CANCELLED, Status.QUEUED)


def test_a_job_goes_on_where_its_last_transaction_ended(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "EXAMINED", 2)
    rows = [make_row() for _ in range(5)]
    job = _start(type="TEST")
    assert operations.run(job.pk) == 2
    job.refresh_from_db()
    assert (job.cancelled, job.finished_at) == (2, None)
    assert 0 <= operations.percent(job) < 100
    assert _run().moved == 3
    job.refresh_from_db()
    assert (job.cancelled, job.stopped) == (5, 5)
    assert {_status(row) for row in rows} == {Status.CANCELLED}


def test_a_stopped_job_cancels_no_more(make_row: MakeRow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "EXAMINED", 1)
    rows = [make_row() for _ in range(3)]
    job = _start(type="TEST")
    operations.run(job.pk)
    operations.stop(job)
    assert _run().moved == 0
    assert [_status(row) for row in rows] == [Status.CANCELLED, Status.QUEUED, Status.QUEUED]
    job.refresh_from_db()
    assert job.is_stopped


def test_a_preview_is_bounded(make_row: MakeRow, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        make_row()
    monkeypatch.setattr(operations, "EXAMINED", 1)
    monkeypatch.setattr(operations, "_PREVIEWED", 2)
    found = operations.preview(CancelFilter(type="TEST"))
    assert (found.total, found.is_lower_bound) == (2, True)


def test_a_failing_job_stops_no_other(make_row: MakeRow, monkeypatch: pytest.MonkeyPatch) -> None:
    row = make_row()
    bad, good = _start(type="OTHER"), _start(type="TEST")
    real = operations.run

    def run(job: int) -> int | None:
        if job == bad.pk:
            raise ValueError("broken")
        return real(job)

    monkeypatch.setattr(operations, "run", run)
    assert _run().failed == 1
    assert _status(row) is Status.CANCELLED
    assert CancelJob.objects.get(pk=good.pk).finished_at is not None


@pytest.mark.django_db(transaction=True)
def test_a_locked_delivery_holds_up_no_cancel_job(make_row: MakeRow) -> None:
    locked, *others = [make_row() for _ in range(5)]
    job = _start(type="TEST")
    with psycopg.connect(**connection.get_connection_params(), autocommit=False) as session:
        session.execute("SELECT FROM delivery WHERE id = %s FOR UPDATE", [locked])
        _run()
    job.refresh_from_db()
    assert {_status(row) for row in others} == {Status.CANCELLED}
    assert not Notification.objects.filter(cancelled_at=None).exists()
    assert (job.cancelled, job.stopped, job.finished_at is not None) == (5, 4, True)


@pytest.mark.django_db(transaction=True)
def test_a_locked_notification_holds_up_no_other_and_its_cancel_job_comes_back(
    make_row: MakeRow,
) -> None:
    first, locked, *others = [make_row() for _ in range(5)]
    job = _start(type="TEST")
    with psycopg.connect(**connection.get_connection_params(), autocommit=False) as session:
        owner = ids.notification_of(locked)
        session.execute("SELECT FROM notification WHERE id = %s FOR UPDATE", [owner])
        _run()
    job.refresh_from_db()
    assert {_status(row) for row in (first, *others)} == {Status.CANCELLED}
    assert (_status(locked), job.cancelled, job.finished_at) == (Status.QUEUED, 4, None)
    _run()
    job.refresh_from_db()
    assert _status(locked) is Status.CANCELLED
    assert (job.cancelled, job.stopped, job.finished_at is not None) == (5, 5, True)
