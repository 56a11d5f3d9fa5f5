"""What an import never does: a half import, a choice of somebody else, a choice taken back."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from notifications.core.models import AuditEntry, Contact, Preference, Recipient
from notifications.core.rules.lane import Mode
from notifications.core.rules.preferences import Cell, CellChange
from notifications.core.store.postgres import new_recipients, preferences, recipients
from notifications.core.store.postgres.contact_book import Address, ContactChange
from notifications.core.store.postgres.new_recipients import NewRecipient
from notifications.features.audiences.rows import topics
from notifications.features.moving import plans, stored_recipients
from providers.contract import Channel
from tests.features.moving.conftest import ImportFrom

pytestmark = pytest.mark.django_db


def store(user_id: str, *addresses: Address) -> Recipient:
    row, _ = recipients.upsert(
        mode=Mode.LIVE,
        user_id=user_id,
        profile={},
        addresses=addresses,
        change=ContactChange(by="tests"),
    )
    return row


def listmonk(*lists: tuple[str, str]) -> dict[str, Any]:
    entries = [{"id": 1, "name": name, "subscription_status": status} for name, status in lists]
    entry = {"id": 1, "email": "a@example.com", "status": "enabled", "lists": entries}
    return {"subscribers.json": {"data": [entry]}}


@pytest.mark.parametrize(
    ("vendor", "files", "place"),
    [
        ("csv", {"r.csv": "user_id,topics_off\nu_1,email:\n"}, "line 2: topics_off: a topic has"),
        ("listmonk", listmonk(("新聞", "unsubscribed")), "/data/0/lists/0: the name needs"),
        (
            "listmonk",
            listmonk(("日本 news", "unsubscribed"), ("中国 news", "confirmed")),
            "/data/0/lists/1: another name of the export gives the topic news",
        ),
        (
            "novu",
            {
                "s.json": [
                    {
                        "subscriberId": "u_1",
                        "preferences": {
                            "workflows": [
                                {"channels": {"email": False}, "workflow": {"identifier": ""}}
                            ]
                        },
                    }
                ]
            },
            "/0/preferences/workflows/0/channels/email: a topic has",
        ),
        (
            "knock",
            {
                "users.json": [
                    {
                        "id": "u_1",
                        "preferences": {"categories": {"": {"channel_types": {"email": False}}}},
                    }
                ]
            },
            "email: a topic has",
        ),
        (
            "sendgrid",
            {"asm.json": [{"email": "a@example.com", "group_name": "新聞"}]},
            "/0/group_name: the name needs",
        ),
        (
            "sendgrid",
            {
                "asm.json": [
                    {"email": "a@example.com", "group_name": "日本 news"},
                    {"email": "b@example.com", "group_name": "中国 news"},
                ]
            },
            "/1/group_name: another name of the export gives the topic news",
        ),
    ],
)
def test_a_name_without_a_topic_of_its_own_is_a_fault(
    vendor: str, files: dict[str, Any], place: str, import_from: ImportFrom
) -> None:
    assert place in import_from(vendor, files, "--partial")
    assert not Preference.objects.exclude(channels_off=[]).exists()


@pytest.mark.parametrize("part", [1, 500])
@pytest.mark.parametrize("last", ["u_2,held,\n", "u_2,, {topics}\n", "u_2,free,\n"])
def test_a_fault_of_the_write_keeps_everything_out(
    part: int, last: str, import_from: ImportFrom, monkeypatch: pytest.MonkeyPatch
) -> None:
    store("owner", Address(channel=Channel.PUSH, address="held", kind="fcm_token"))
    off = [CellChange(Cell(f"old-{number}", None), on=False) for number in range(60)]
    preferences.change(store("u_2"), {}, choices=off)
    before = list(Preference.objects.values())
    monkeypatch.setattr(plans, "PART", part)
    new = " ".join(f"new-{number}" for number in range(60))
    lines = f"user_id,fcm_token,topics_off\nu_1,free,news\n{last.format(topics=new)}"
    with pytest.raises(CommandError, match=r"1 parts were not understood\. Nothing was imported"):
        import_from("csv", {"r.csv": lines})
    assert Recipient.objects.count() == 2
    assert list(Preference.objects.values()) == before
    assert not AuditEntry.objects.filter(operation="import_recipients").exists()
    assert "recipients: 1 imported" in import_from("csv", {"r.csv": lines}, "--partial")


def test_a_cell_with_too_many_values_is_one_fault(import_from: ImportFrom) -> None:
    words = " ".join(f"t{number}" for number in range(101))
    for column in ("fcm_token", "apns_token", "channels_off", "topics_off", "topics"):
        told = import_from("csv", {"r.csv": f"user_id,{column}\nu_1,{words}\n"}, "--partial")
        assert told.count("not understood") == 1
        assert f"line 2: {column}: has more than 100 values" in told


def test_what_was_changed_here_after_an_import_stays(import_from: ImportFrom) -> None:
    files = {"r.csv": "user_id,channels_off,topics_off,topics\nu_1,sms,email:social,news\n"}
    import_from("csv", files)
    row = Recipient.objects.get()
    topic = topics.ensure(mode=Mode.LIVE, name="news", by="tests")
    topics.unsubscribe(topic, ["u_1"])
    cells = (Cell("", Channel.SMS), Cell("social", Channel.EMAIL))
    on = [CellChange(cell, on=True) for cell in cells]
    preferences.change(row, {}, choices=on, by_recipient=True)
    told = import_from("csv", files)
    assert "recipients: 0 imported, 1 unchanged" in told
    assert "left out: opt-out of an earlier import, switched on in this service (2)" in told
    assert "left out: topic of an earlier import, left in this service (1)" in told
    assert not preferences.off(Preference.objects.get())
    assert topics.names_of(row.pk, mode=Mode.LIVE) == []
    more = {"r.csv": "user_id,channels_off,topics_off,topics\nu_1,sms,marketing,news offers\n"}
    import_from("csv", more)
    assert preferences.off(Preference.objects.get()) == {Cell("marketing", None)}
    assert topics.names_of(row.pk, mode=Mode.LIVE) == ["offers"]


def test_an_opt_out_by_address_holds_for_each_user_with_the_address(
    import_from: ImportFrom,
) -> None:
    asm = {"asm.json": [{"email": "A@example.com", "group_name": "Offers"}]}
    assert "no recipient had the address" in import_from("sendgrid", asm)
    mailbox = Address(channel=Channel.EMAIL, address="a@example.com", primary=True)
    other = Address(channel=Channel.EMAIL, address="b@example.com", primary=True)
    for user_id in ("u_1", "u_2"):
        store(user_id, mailbox)
    store("u_3", other)
    told = import_from("sendgrid", asm)
    assert "recipients: 2 imported, 1 unchanged" in told
    assert "no recipient" not in told
    off = Preference.objects.filter(recipient__user_id__startswith="u_")
    assert set(off.values_list("recipient__user_id", flat=True)) == {"u_1", "u_2"}
    assert {str(each.topics_off) for each in off} == {"{'email': ['Offers']}"}
    assert "recipients: 0 imported, 3 unchanged" in import_from("sendgrid", asm)


def test_a_device_that_is_registered_during_the_import_stays_there(
    import_from: ImportFrom, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = stored_recipients.lock

    def register_first(*args: Any, **named: Any) -> None:  # noqa: ANN401 - handed on
        store("owner", Address(channel=Channel.PUSH, address="d", kind="fcm_token"))
        lock(*args, **named)

    monkeypatch.setattr(stored_recipients, "lock", register_first)
    told = import_from("csv", {"r.csv": "user_id,fcm_token\nu_1,d\n"}, "--partial")
    assert "line 2: the device is registered by another recipient" in told
    assert Contact.objects.get(invalidated_at=None).recipient.user_id == "owner"


def _lines(count: int) -> str:
    head = "user_id,email,phone,locale,timezone,fcm_token\n"
    rows = (
        f"u_{n},u{n}@example.com,+49151234{n:05},de,Europe/Berlin,token-{n}a token-{n}b\n"
        for n in range(count)
    )
    return head + "".join(rows)


def _statements(import_from: ImportFrom, lines: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        import_from("csv", {"r.csv": lines})
    return len(captured)


def test_the_number_of_statements_does_not_grow_with_new_recipients(
    import_from: ImportFrom,
) -> None:
    import_from("csv", {"r.csv": "user_id\nwarm\n"})  # what a process reads once
    few = _statements(import_from, _lines(3))
    Recipient.objects.all().delete()
    # A cache of the process may be read again.
    assert _statements(import_from, _lines(60)) < few + 10
    assert Recipient.objects.count() == 60
    assert Contact.objects.count() == 4 * 60


def test_a_new_recipient_of_an_import_equals_one_of_the_api(import_from: ImportFrom) -> None:
    import_from("csv", {"r.csv": _lines(1)})
    addresses = [
        Address(channel=Channel.EMAIL, address="u0@example.com"),
        Address(channel=Channel.SMS, address="+4915123400000"),
        Address(channel=Channel.PUSH, address="token-0a", kind="fcm_token"),
        Address(channel=Channel.PUSH, address="token-0b", kind="fcm_token"),
    ]
    recipients.upsert(
        mode=Mode.TEST,
        user_id="u_0",
        profile={"locale": "de", "timezone": "Europe/Berlin"},
        addresses=addresses,
        change=ContactChange(by="tests"),
    )
    imported, stored = Recipient.objects.order_by("mode").filter(user_id="u_0")
    assert {imported.mode, stored.mode} == {Mode.LIVE, Mode.TEST}
    for name in ("locale", "timezone", "phone_timezone", "attributes"):
        assert getattr(imported, name) == getattr(stored, name), name
    columns = ("channel", "kind", "address", "is_primary", "invalidated_at", "changed_at")
    of_import, of_api = (set(each.contacts.values_list(*columns)) for each in (imported, stored))
    assert of_import == of_api


@pytest.mark.django_db(transaction=True)
def test_a_recipient_that_is_stored_during_the_import_is_merged(
    import_from: ImportFrom, monkeypatch: pytest.MonkeyPatch
) -> None:
    def store_first(wanted: Iterable[NewRecipient], *, mode: Mode, by: str) -> dict[str, Recipient]:
        monkeypatch.undo()
        with ThreadPoolExecutor(1) as others:
            others.submit(_store_and_close, "u_1").result()
        return new_recipients.store(wanted, mode=mode, by=by)

    monkeypatch.setattr(new_recipients, "store", store_first)
    import_from("csv", {"r.csv": _lines(3)})
    assert Recipient.objects.count() == 3
    merged = Recipient.objects.get(user_id="u_1")
    assert merged.locale == "de"
    assert merged.contacts.filter(invalidated_at=None).count() == 5


def test_a_fault_of_a_new_recipient_leaves_no_row_of_it(
    import_from: ImportFrom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preferences, "MOST_UNKNOWN", 1)
    lines = (
        "user_id,email,topics_off,topics\nu_1,a@example.com,a b,offers\n"
        "u_2,b@example.com,a,offers\n"
    )
    import_from("csv", {"r.csv": lines}, "--partial")
    assert [each.user_id for each in Recipient.objects.all()] == ["u_2"]
    assert not Contact.objects.filter(address="a@example.com").exists()
    assert not AuditEntry.objects.filter(object_name="u_1").exists()
    row = Recipient.objects.get()
    assert topics.names_of(row.pk, mode=Mode.LIVE) == ["offers"]


def _store_and_close(user_id: str) -> None:
    store(user_id, Address(channel=Channel.EMAIL, address="first@example.com"))
    connection.close()


def test_merges_wait_and_rows_are_locked_in_the_order_of_user_ids(
    import_from: ImportFrom, monkeypatch: pytest.MonkeyPatch
) -> None:
    mailbox = Address(channel=Channel.EMAIL, address="a@example.com", primary=True)
    for user_id in ("u_2", "u_1"):
        store(user_id, mailbox)
    lock, held = stored_recipients.lock, []

    def watched(*args: Any, **named: Any) -> None:  # noqa: ANN401 - handed on
        held.append(shared_locks())
        lock(*args, **named)

    monkeypatch.setattr(stored_recipients, "lock", watched)
    assert shared_locks() == 0
    asm = {"asm.json": [{"email": "a@example.com", "group_name": "Offers"}]}
    with CaptureQueriesContext(connection) as ran:
        import_from("sendgrid", asm)
    assert held == [1]
    first = next(each["sql"] for each in ran.captured_queries if "FOR UPDATE" in each["sql"])
    assert 'ORDER BY "notifications_recipient"."user_id"' in first


def shared_locks() -> int:
    with connection.cursor() as running:
        running.execute(
            "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid()"
            " AND locktype = 'advisory' AND mode = 'ShareLock'"
        )
        return int(running.fetchone()[0])
