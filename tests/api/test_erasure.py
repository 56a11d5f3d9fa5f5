"""A person who is erased is gone at once, and a job removes what was sent to them."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core import clock
from notifications.core.models import (
    ArchiveKey,
    AuditEntry,
    CancelJob,
    Contact,
    DeadLetter,
    Delivery,
    ErasureJob,
    Event,
    InboxItem,
    Notification,
    Occurrence,
    Preference,
    Recipient,
    Rejected,
    Schedule,
    ShortLink,
)
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import audit, erasure, partitions
from notifications.core.sweeps import housekeeping
from notifications.core.sweeps.rounds import Swept
from notifications.features.cancel_jobs import sweep as cancel_sweep
from notifications.features.inbox.rows import writes
from notifications.features.inbox.rows.items import NewItem
from notifications.features.schedules import sweep
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller

PATH = "/v1/recipients/maria"
_SALE = {"user_id": "maria", "type": "SALE", "priority": "P2", "content": {"body": "Half price"}}
_LATER = dt.timedelta(minutes=2)


def _send(caller: Caller, **fields: object) -> str:
    answer = caller.post("/v1/notifications", {**_SALE, **fields})
    assert answer.status_code == 202, answer.content
    notification_id: str = answer.json()["notification_id"]
    return notification_id


def _letter(recipient: Recipient) -> DeadLetter:
    delivery = Delivery.objects.filter(recipient_id=recipient.pk).order_by("pk")[0]
    return DeadLetter.objects.create(
        delivery_id=delivery.pk,
        mode=Mode.LIVE,
        priority=2,
        channel=Channel.EMAIL,
        producer_id=1,
        recipient_id=recipient.pk,
        reason="permanent",
        detail="no such mailbox",
        snapshot={"user_id": "maria"},
        created_at=clock.now(),
    )


def test_what_was_sent_to_an_erased_person_is_removed_by_a_job(
    caller: Caller, maria: Recipient
) -> None:
    sent = [_send(caller), _send(caller, priority="P3")]
    caller.send("PUT", "/v1/recipients/lisa", {"contacts": [_mail("lisa@example.com")]})
    kept = _send(caller, user_id="lisa")
    caller.send("PATCH", f"{PATH}/preferences", {"categories_off": ["news"]})
    caller.post("/v1/notifications", {**_SALE, "type": "no type"})
    letter = _letter(maria)
    ShortLink.objects.create(
        token="t",
        delivery_id=letter.delivery_id,
        target="https://example.com/?u=maria",
        expires_at=clock.now() + _LATER,
    )
    answer = caller.send("DELETE", PATH)
    assert answer.status_code == 202
    path = answer.headers["Location"]
    assert caller.get(path).json() == answer.json()
    assert caller.get(PATH).status_code == 404
    assert caller.send("DELETE", PATH).status_code == 404
    assert caller.post("/v1/notifications", _SALE).json()["code"] == "unknown-recipient"
    assert not Contact.objects.filter(recipient_id=maria.pk).exists()
    assert not Preference.objects.exists()
    assert housekeeping.erase_recipients(now=clock.now(), limit=1).moved == 2
    assert caller.get(path).json()["finished_at"] is None
    housekeeping.erase_recipients(now=clock.now() + _LATER, limit=1)
    done = caller.get(path).json()
    assert (done["notifications"], done["finished_at"] is not None) == (2, True)
    assert [caller.get(f"/v1/notifications/{each}").status_code for each in sent] == [404, 404]
    assert caller.get(f"/v1/notifications/{kept}").status_code == 200
    assert not Event.objects.filter(notification_id__in=sent).exists()
    assert not ShortLink.objects.exists()
    letter.refresh_from_db()
    assert (letter.snapshot, letter.detail, letter.resolution) == ({}, "", "recipient erased")
    assert not Rejected.objects.filter(user_id="maria").exclude(problem="unknown-recipient")


def _archive_key(recipient_id: int) -> None:
    ArchiveKey.objects.create(recipient_id=recipient_id, sealed=bytes(60))


def _mail(address: str) -> dict[str, str]:
    return {"channel": "email", "address": address}


def test_a_request_that_was_being_accepted_meanwhile_is_removed_too(
    caller: Caller, maria: Recipient
) -> None:
    _send(caller)
    caller.send("DELETE", PATH)
    housekeeping.erase_recipients(now=clock.now(), limit=100)
    recipient = Recipient.objects.create(mode=Mode.LIVE, user_id="maria")
    late = _send(caller)
    Notification.objects.filter(pk=late).update(recipient_id=maria.pk)
    housekeeping.erase_recipients(now=clock.now() + _LATER, limit=100)
    assert not Notification.objects.exists()
    assert ErasureJob.objects.get().notifications == 2
    assert Recipient.objects.get() == recipient


def test_a_new_person_with_the_old_name_keeps_their_notifications(
    caller: Caller, maria: Recipient
) -> None:
    assert caller.send("DELETE", PATH).status_code == 202
    caller.send("PUT", PATH, {"contacts": [_mail("new@example.com")]})
    _send(caller)
    housekeeping.erase_recipients(now=clock.now() + _LATER, limit=100)
    assert Notification.objects.count() == 1
    assert Recipient.objects.get().pk != maria.pk


@pytest.mark.usefixtures("maria")
def test_a_job_that_raises_stops_no_other_job(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ErasureJob.objects.create(mode=Mode.LIVE, recipient_id=1, requested_by="tests")
    sent = _send(caller)
    assert caller.send("DELETE", PATH).status_code == 202
    work_off = erasure.work_off

    def worked_off(job: ErasureJob, *, now: dt.datetime, limit: int, inbox_items: int) -> int:
        if job.pk == first.pk:
            msg = "a row that no step expects"
            raise KeyError(msg)
        return work_off(job, now=now, limit=limit, inbox_items=inbox_items)

    monkeypatch.setattr(erasure, "work_off", worked_off)
    assert housekeeping.erase_recipients(now=clock.now(), limit=100) == Swept(moved=1, failed=1)
    assert not Notification.objects.filter(id=sent).exists()


@pytest.mark.usefixtures("maria")
def test_a_job_says_nothing_of_whom_it_erased(caller: Caller) -> None:
    caller.send("DELETE", PATH)
    [row] = ErasureJob.objects.values()
    assert "maria" not in str(row)
    entry = AuditEntry.objects.get(operation="erase_recipient")
    assert caller.key.prefix in entry.by
    assert "maria" not in f"{entry.object_name} {entry.before} {entry.after}"


def _schedule(caller: Caller, name: str, user_id: str) -> int:
    sent = {**_SALE, "user_id": user_id}
    body = {"name": name, "rrule": "FREQ=DAILY", "notification": sent}
    answer = caller.post("/v1/schedules", body)
    assert answer.status_code == 201, answer.content
    schedule_id: int = answer.json()["id"]
    return schedule_id


@pytest.mark.usefixtures("maria")
def test_schedules_of_an_erased_person_end_and_the_audit_log_has_each(caller: Caller) -> None:
    caller.send("PUT", "/v1/recipients/lisa", {"contacts": [_mail("lisa@example.com")]})
    own, other = _schedule(caller, "own", "maria"), _schedule(caller, "other", "lisa")
    sweep.run_once(now=clock.now() + dt.timedelta(days=1), limit=10)
    assert Occurrence.objects.filter(schedule_id=own).exists()
    caller.send("DELETE", PATH)
    assert list(Schedule.objects.values_list("pk", flat=True)) == [other]
    assert not Occurrence.objects.filter(schedule_id=own).exists()
    [entry] = AuditEntry.objects.filter(operation="erase_recipient", object_type="schedule")
    assert (entry.object_id, entry.by) == (str(own), f"producer orders ({caller.key.prefix})")
    assert "Half price" not in str(entry.after)


@pytest.mark.usefixtures("maria")
@pytest.mark.parametrize("state", ["finished", "running"])
def test_the_filter_of_a_cancel_job_loses_an_erased_person_once_it_is_finished(
    caller: Caller, state: str
) -> None:
    for value in ("maria", "autumn"):
        assert (
            caller.post("/v1/notifications/cancel", {"metadata": {"of": value}}).status_code < 300
        )
    CancelJob.objects.update(finished_at=clock.now() if state == "finished" else None)
    caller.send("DELETE", PATH)
    left = list(CancelJob.objects.order_by("pk").values_list("metadata", flat=True))
    assert left == [{} if state == "finished" else {"of": "maria"}, {"of": "autumn"}]


@pytest.mark.usefixtures("maria")
@pytest.mark.parametrize("end", ["finished", "stopped"])
def test_the_filter_of_an_open_cancel_job_loses_an_erased_person_at_its_end(
    caller: Caller, end: str
) -> None:
    job = caller.post("/v1/notifications/cancel", {"metadata": {"to": "maria@example.com"}}).json()[
        "id"
    ]
    caller.send("DELETE", PATH)
    if end == "finished":
        cancel_sweep.run_once(now=clock.now(), limit=20)
    else:
        assert caller.post(f"/v1/cancel-jobs/{job}/stop").status_code == 200
    row = CancelJob.objects.get()
    assert (row.metadata, row.finished_at is not None) == ({}, True)
    assert row.is_stopped == (end == "stopped")
    assert "maria@example.com" not in str(list(audit.of_object(row).values()))


@pytest.mark.usefixtures("maria")
def test_a_test_key_erases_in_its_own_world(make_caller: MakeCaller) -> None:
    assert make_caller(mode=Mode.TEST).send("DELETE", PATH).status_code == 404
    assert Recipient.objects.get().user_id == "maria"


def _inbox_item(recipient_id: int) -> NewItem:
    return NewItem(
        id=clock.new_notification_id(),
        recipient_id=recipient_id,
        notification_id=clock.new_notification_id(),
        type="t",
        category="c",
        title="Hello",
        body="Maria",
        created_at=clock.now(),
    )


def test_a_finished_job_has_a_signed_receipt(caller: Caller, maria: Recipient) -> None:
    _archive_key(maria.pk)
    _send(caller)
    writes.add([_inbox_item(maria.pk)])
    contacts = maria.contacts.count()
    path = caller.send("DELETE", PATH).headers["Location"]
    assert not ArchiveKey.objects.exists()
    assert caller.get(path).json()["receipt"] is None
    _archive_key(maria.pk)  # as an export that runs at the same time
    for _ in range(2):
        housekeeping.erase_recipients(now=clock.now() + _LATER, limit=100)
    assert not ArchiveKey.objects.exists()
    assert not InboxItem.objects.exists()
    done = caller.get(path).json()
    assert done["receipt"]["erased"] == {
        "contacts": contacts,
        "notifications": 1,
        "dead_letters": 0,
        "inbox_items": 1,
        "archive_keys": 2,
    }
    assert done["receipt"]["requested_by"] == caller.key.prefix
    assert "maria" not in str(done["receipt"])
    job = ErasureJob.objects.get()
    assert erasure.is_genuine(job)
    job.receipt = {**done["receipt"], "erased_at": "2026-01-01T00:00:00+00:00"}
    assert not erasure.is_genuine(job)


def test_a_job_waits_for_the_drop_of_a_frozen_day(
    caller: Caller, maria: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = caller.send("DELETE", PATH).headers["Location"]
    with monkeypatch.context() as patched:
        patched.setattr(partitions, "frozen", lambda: {dt.date(2026, 1, 2)})
        housekeeping.erase_recipients(now=clock.now() + _LATER, limit=100)
        assert caller.get(path).json()["finished_at"] is None
    housekeeping.erase_recipients(now=clock.now() + _LATER, limit=100)
    assert caller.get(path).json()["finished_at"] is not None
    assert maria.pk == ErasureJob.objects.get().recipient_id
