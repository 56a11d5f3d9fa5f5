"""A file is erased with the last person who got it, in any order of uses, merges and erasures."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import permutations
from typing import Any
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connection

from notifications.core import clock, conf
from notifications.core.intake import accept, new_rows
from notifications.core.intake.accept import AcceptedRequest, Caller, Refused
from notifications.core.models import Delivery, Recipient
from notifications.core.rules import request
from notifications.core.rules.attachments import FileUse
from notifications.core.rules.problems import Problem
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db, erasure, merged_recipients
from notifications.features.attachments import rows
from notifications.features.attachments.models import Attachment, AttachmentRecipient
from notifyproj.devstack.demo.environment import until
from tests.features.attachments.conftest import PDF, Upload
from tests.interleaving import is_awaited
from tests.journey import Accept, Reach

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("outbox")]
_TWINS = {"to_1": "opt.out@mailbox.example", "to_2": "Opt.Out@mailbox.example"}


def _asked(file: UUID) -> list[dict[str, str]]:
    return [{"id": str(file), "name": "invoice.pdf"}]


def _erase(caller: Caller, user_id: str) -> None:
    assert erasure.begin(mode=caller.mode, user_id=user_id, requested_by="x", by="x") is not None


def _exists(file: UUID) -> bool:
    return Attachment.objects.filter(pk=file).exists()


def _merge() -> None:
    Delivery.objects.update(status=Status.SENT, due_at=None)
    twins = Recipient.objects.filter(user_id__in=_TWINS).order_by("pk")
    assert merged_recipients.merge([each.pk for each in twins], by="x") == 1


@pytest.fixture
def people(reach: Reach) -> None:
    for user_id, address in _TWINS.items():
        reach(user_id, email=address)
    for user_id in ("maria", "omar"):
        reach(user_id, email=f"{user_id}@sandbox.example")


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("order", [*permutations(("maria", "omar", "to_1"))])
def test_a_file_of_three_people_goes_with_the_last(
    order: tuple[str, ...], take: Accept, upload: Upload, caller: Caller
) -> None:
    file = upload()
    for user_id in ("maria", "omar", "to_1"):
        take(attachments=_asked(file), user_id=user_id)
    for user_id in order:
        assert _exists(file)
        _erase(caller, user_id)
    assert not _exists(file)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("merged_before", [0, 1, 2])
@pytest.mark.parametrize("erased", _TWINS)
def test_a_file_of_merged_recipients_goes_with_the_person(
    merged_before: int, erased: str, take: Accept, upload: Upload, caller: Caller
) -> None:
    file = upload()
    for place, user_id in enumerate(_TWINS):
        if place == merged_before:
            _merge()
        take(attachments=_asked(file), user_id=user_id)
    if merged_before == len(_TWINS):
        _merge()
    _erase(caller, erased)
    assert not _exists(file)
    assert not Recipient.objects.filter(user_id__in=_TWINS).exists()


@pytest.mark.usefixtures("people")
def test_a_file_that_another_person_got_too_survives_a_merge_and_the_erasure(
    take: Accept, upload: Upload, caller: Caller
) -> None:
    file = upload()
    for user_id in ("to_1", "maria", "to_2"):
        take(attachments=_asked(file), user_id=user_id)
    _merge()
    _erase(caller, "to_1")
    assert _exists(file)
    _erase(caller, "maria")
    assert not _exists(file)


@pytest.mark.usefixtures("people")
def test_an_erasure_before_a_merge_leaves_the_file_to_the_other_recipient(
    take: Accept, upload: Upload, caller: Caller
) -> None:
    file = upload()
    for user_id in _TWINS:
        take(attachments=_asked(file), user_id=user_id)
    _erase(caller, "to_1")
    assert isinstance(take(attachments=_asked(file), user_id="to_2"), AcceptedRequest)
    _erase(caller, "to_2")
    assert not _exists(file)


@pytest.mark.usefixtures("people")
def test_a_file_uploaded_again_stays_for_the_promised_day_and_for_the_next_person(
    take: Accept, upload: Upload, caller: Caller
) -> None:
    file = upload()
    take(attachments=_asked(file))
    assert upload() == file
    _erase(caller, "maria")
    [row] = Attachment.objects.all()
    assert row.recipient_id is None
    assert row.kept_until <= clock.now() + rows.UNUSED_KEPT
    assert isinstance(take(attachments=_asked(file), user_id="omar"), AcceptedRequest)
    _erase(caller, "omar")
    assert not _exists(file)


@pytest.mark.usefixtures("people")
def test_a_file_uploaded_again_and_used_again_goes_with_the_person(
    take: Accept, upload: Upload, caller: Caller
) -> None:
    file = upload()
    for _ in range(2):
        assert upload() == file
        take(attachments=_asked(file))
    _erase(caller, "maria")
    assert not _exists(file)


@pytest.mark.usefixtures("people")
def test_a_promise_of_the_past_keeps_no_file(take: Accept, upload: Upload, caller: Caller) -> None:
    file = upload()
    take(attachments=_asked(file))
    Attachment.objects.update(promised_until=TransactionNow() - dt.timedelta(seconds=1))
    _erase(caller, "maria")
    assert not _exists(file)


@pytest.mark.parametrize(("number", "stays"), [(10, False), (11, True)])
def test_a_file_of_many_people_is_nobodys_and_stays_for_its_time(
    number: int, reach: Reach, upload: Upload, caller: Caller, *, stays: bool
) -> None:
    file = upload()
    people = [reach(f"p{each}", email=f"p{each}@sandbox.example") for each in range(number)]
    for each in people:
        assert list(rows.link({FileUse(file, each.pk)})) == []
    assert AttachmentRecipient.objects.count() == (0 if stays else number)
    for each in people:
        _erase(caller, each.user_id)
    assert _exists(file) is stays
    later = clock.now() + conf.current().retention + dt.timedelta(days=3)
    rows.delete_expired(before=later - conf.current().retention, limit=10)
    assert not _exists(file)


def test_an_audience_of_many_leaves_no_row_of_its_recipients(reach: Reach, upload: Upload) -> None:
    file = upload()
    people = [reach(f"p{each}", email=f"p{each}@sandbox.example") for each in range(12)]
    assert list(rows.link({FileUse(file, each.pk) for each in people})) == []
    assert list(rows.link({FileUse(file, people[0].pk)})) == []
    assert not AttachmentRecipient.objects.exists()
    [row] = Attachment.objects.all()
    assert (row.is_shared, row.recipient_id) == (True, None)


def test_a_file_that_many_people_have_got_meanwhile_survives_an_erasure(
    reach: Reach, upload: Upload
) -> None:
    file, person = upload(), reach("maria", email="maria@sandbox.example")
    people = [reach(f"p{each}", email=f"p{each}@sandbox.example") for each in range(11)]
    rows.link({FileUse(file, person.pk)})
    values = {"recipients": [person.pk], "now": clock.now()}
    locked = [row["id"] for row in db.rows("attachment_erase_lock", values)]
    rows.link({FileUse(file, each.pk) for each in people})
    db.run("attachment_erase", {**values, "files": locked})
    assert locked == [file]
    assert _exists(file)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("_round", range(5))
def test_erasures_and_uses_at_once_lose_no_use_and_keep_no_orphan(
    _round: int, reach: Reach, take: Accept, upload: Upload, caller: Caller
) -> None:
    names = [f"p{number}" for number in range(6)]
    for name in names:
        reach(name, email=f"{name}@sandbox.example")
    file = upload(PDF + b"raced")
    for name in names[:3]:
        take(attachments=_asked(file), user_id=name)

    def work(name: str) -> object:
        try:
            if name in names[:3]:
                _erase(caller, name)
                return None
            return take(attachments=_asked(file), user_id=name)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(work, names))
    taken = {
        name
        for name, answer in zip(names[3:], answers[3:], strict=True)
        if isinstance(answer, AcceptedRequest)
    }
    refused = [each.problem.detail for each in answers[3:] if isinstance(each, Refused)]
    assert len(taken) + len(refused) == 3
    assert _exists(file) is bool(taken)
    for name in taken:
        _erase(caller, name)
    assert not _exists(file)


@pytest.mark.django_db(transaction=True)
def test_an_acceptance_by_address_and_the_erasure_of_the_person_wait_in_one_order(
    reach: Reach, upload: Upload, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    maria = reach("maria", email="maria@sandbox.example")
    file, insert = upload(), new_rows.insert
    rows.link({FileUse(file, maria.pk)})  # used before, and not yet today
    wanted = request.parse({
        "to": {"email": "maria@sandbox.example"},
        "type": "LIKE",
        "content": {"title": "Invoice", "body": "See the file."},
        "attachments": _asked(file),
    })
    assert not isinstance(wanted, Problem)
    waiting: list[Future[None]] = []

    def erase() -> None:
        try:
            _erase(caller, "maria")
        finally:
            connection.close()

    def insert_beside_an_erasure(*found: Any, **named: Any) -> bool:  # noqa: ANN401 - as the function
        waiting.append(threads.submit(erase))
        until(is_awaited, what="the erasure waits for the acceptance")
        return insert(*found, **named)

    monkeypatch.setattr(new_rows, "insert", insert_beside_an_erasure)
    with ThreadPoolExecutor(1) as threads:
        [answer] = accept.accept(replace(caller, may_register=True), [wanted])
        waiting[0].result()
    assert isinstance(answer, AcceptedRequest)
    assert not _exists(file)
