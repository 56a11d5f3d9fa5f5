"""Files are deleted by age, with the last recipient and with the producer."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import pytest
from django.db import connection

from notifications.core import clock, conf
from notifications.core.intake import accept, attachments
from notifications.core.intake.accept import (
    AcceptedRequest,
    BatchResult,
    Caller,
    IntakeRequest,
    Refused,
    Single,
)
from notifications.core.models import IdempotencyKey, Notification, Producer, Recipient
from notifications.core.rules import request
from notifications.core.rules.attachments import FileKey, FileUse
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.sensitive import Sensitive
from notifications.core.store.postgres import db, erasure
from notifications.core.store.postgres.secret_variables import Fingerprint
from notifications.core.store.rate_limits.producer_limits import Charge
from notifications.features.attachments import rows
from notifications.features.attachments.models import Attachment, AttachmentRecipient
from tests.features.attachments.conftest import PDF, Upload
from tests.journey import Accept, Reach


def _delete(now: dt.datetime) -> int:
    return rows.delete_expired(before=now - conf.current().retention, limit=100)


def _asked(file: UUID) -> list[dict[str, str]]:
    return [{"id": str(file), "name": "invoice.pdf"}]


def _lose_during_requests(monkeypatch: pytest.MonkeyPatch, file: UUID) -> None:
    """Delete a file after the checks of each request."""

    def keep_and_lose(wanted: list[FileKey], **_recipients: object) -> object:
        found = rows.keep(wanted)
        Attachment.objects.filter(pk=file).delete()
        return found

    monkeypatch.setattr(attachments, "KEPT", (keep_and_lose,))


@pytest.mark.django_db
@pytest.mark.usefixtures("outbox")
def test_an_unused_file_goes_after_a_day_and_a_used_one_after_its_notification(
    reach: Reach, take: Accept, upload: Upload
) -> None:
    reach(email="maria@sandbox.example")
    unused, used = upload(PDF), upload(PDF + b"used")
    take(attachments=_asked(used))
    now = clock.now()
    assert _delete(now + dt.timedelta(hours=23)) == 0
    assert _delete(now + dt.timedelta(hours=25)) == 1
    assert not Attachment.objects.filter(pk=unused).exists()
    assert _delete(now + conf.current().retention + dt.timedelta(days=1)) == 0
    assert _delete(now + conf.current().retention + dt.timedelta(days=3)) == 1


@pytest.mark.django_db
@pytest.mark.usefixtures("outbox")
def test_a_file_of_one_recipient_is_erased_with_the_recipient_and_a_shared_one_stays(
    reach: Reach, take: Accept, upload: Upload, caller: Caller
) -> None:
    for name in ("maria", "omar"):
        reach(name, email=f"{name}@sandbox.example")
    own, shared, unsent = (upload(PDF + end) for end in (b"own", b"shared", b"unsent"))
    for _ in range(2):
        take(attachments=_asked(own))
    take(attachments=_asked(shared))
    take(attachments=_asked(shared), user_id="omar")
    take(attachments=_asked(shared))
    erasure.begin(mode=caller.mode, user_id="maria", requested_by="x", by="x")
    assert set(Attachment.objects.values_list("pk", flat=True)) == {shared, unsent}


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("outbox")
def test_each_of_several_recipients_at_once_is_stored(
    reach: Reach, take: Accept, upload: Upload
) -> None:
    people = [f"person{number}" for number in range(8)]
    for name in people:
        reach(name, email=f"{name}@sandbox.example")
    file = upload()

    def accept(name: str) -> object:
        try:
            return take(attachments=_asked(file), user_id=name)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(accept, people))
    refused = [each.problem.detail for each in answers if isinstance(each, Refused)]
    assert refused == []
    [row] = Attachment.objects.all()
    assert (row.is_shared, row.recipient_id) == (False, None)
    known = AttachmentRecipient.objects.filter(attachment_id=file)
    assert known.count() == len(people)


@pytest.mark.django_db
@pytest.mark.usefixtures("outbox")
def test_a_file_that_goes_during_the_request_stores_nothing(
    reach: Reach, take: Accept, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(email="maria@sandbox.example")
    file = upload()
    _lose_during_requests(monkeypatch, file)
    answer = take(attachments=_asked(file))
    assert isinstance(answer, Refused)
    assert answer.problem.kind is Kind.CONFLICT
    assert not Notification.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("outbox")
@pytest.mark.parametrize("key", ["", "whole"])
def test_a_file_that_goes_during_a_batch_refuses_its_item_alone(
    reach: Reach, caller: Caller, upload: Upload, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    reach(email="maria@sandbox.example")
    gone, stays = upload(), upload(PDF + b"stays")
    _lose_during_requests(monkeypatch, gone)
    body = {"user_id": "maria", "type": "LIKE", "content": {"title": "Hi", "body": "Hi"}}
    asked = [
        request.parse({**body, "channels": ["email"], **more})
        for more in (
            {"idempotency_key": "1"},
            {"attachments": _asked(gone), "idempotency_key": "2"},
            {"attachments": _asked(gone), "idempotency_key": "2"},
            {"attachments": _asked(stays), "idempotency_key": "3"},
        )
    ]
    parsed = [each for each in asked if not isinstance(each, Problem)]
    assert len(parsed) == len(asked)

    def post() -> list[object]:
        if not key:
            return list(accept.accept(caller, parsed))
        found = accept.accept_once(caller, key, Fingerprint(Sensitive(b"body")), parsed)
        assert isinstance(found, BatchResult)
        return list(found.results)

    first = post()
    assert [type(each) for each in first] == [AcceptedRequest, Refused, Refused, AcceptedRequest]
    problems = [each.problem.kind for each in first if isinstance(each, Refused)]
    assert problems == [Kind.CONFLICT, Kind.CONFLICT]
    assert Notification.objects.count() == 2
    again = post()
    assert [type(each) for each in again] == [type(each) for each in first]
    assert Notification.objects.count() == 2
    kept = IdempotencyKey.objects.values_list("key", flat=True)
    assert sorted(kept) == sorted(["1", "3", *([key] if key else [])])


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("outbox")
def test_a_file_that_goes_during_a_group_of_requests_refuses_its_request_alone(
    reach: Reach, caller: Caller, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(email="maria@sandbox.example")
    gone = upload()
    _lose_during_requests(monkeypatch, gone)
    singles = []
    for more in ({}, {"attachments": _asked(gone)}):
        body = {"user_id": "maria", "type": "LIKE", "content": {"title": "Hi", "body": "Hi"}}
        wanted = request.parse({**body, "channels": ["email"], **more})
        assert not isinstance(wanted, Problem)
        charge = Charge(
            producer_id=caller.producer_id, mode=caller.mode, cost=1, rate_per_second=1, burst=9
        )
        singles.append(Single(IntakeRequest(caller, wanted), charge))
    answers, _ = accept._run_group(singles)
    assert [type(each) for each, _ in answers] == [AcceptedRequest, Refused]
    assert Notification.objects.count() == 1


@pytest.mark.django_db
def test_a_link_to_a_gone_recipient_or_file_is_told(reach: Reach, upload: Upload) -> None:
    person, file = reach(email="maria@sandbox.example"), upload()
    use = FileUse(file, person.pk)
    assert list(rows.link({use})) == []
    for gone in (FileUse(uuid4(), person.pk), FileUse(file, person.pk + 1)):
        assert list(rows.link({use, gone})) == [gone]


@pytest.mark.django_db
def test_files_go_with_their_producer(caller: Caller, upload: Upload) -> None:
    upload()
    producer = Producer.objects.get(pk=caller.producer_id)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM notifications_producer WHERE id = %s", [producer.pk])
    assert not Attachment.objects.exists()
    assert not Recipient.objects.exists()


@pytest.mark.django_db
def test_a_file_is_written_once_a_day_however_often_it_is_used(
    caller: Caller, upload: Upload
) -> None:
    key = FileKey(caller.producer_id, caller.mode, upload())

    def version() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SELECT xmin::text || ctid::text FROM attachment")
            [row] = cursor.fetchall()
        return str(row[0])

    rows.keep([key])
    kept = version()
    assert set(rows.keep([key])) == {key}
    assert version() == kept


@pytest.mark.django_db
def test_large_files_are_deleted_in_several_statements(
    upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        upload(PDF + str(number).encode())
    monkeypatch.setattr(rows, "_BYTES", len(PDF))
    counts: list[int] = []
    run = db.run

    def counted(name: str, values: Mapping[str, object]) -> int:
        counts.append(run(name, values))
        return counts[-1]

    monkeypatch.setattr(db, "run", counted)
    assert _delete(clock.now() + dt.timedelta(days=2)) == 5
    assert counts == [1, 1, 1, 1, 1, 0]
