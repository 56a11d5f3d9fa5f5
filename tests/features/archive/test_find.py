"""An archived notification is found by its id, its recipient and its idempotency key."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow.parquet as pq
import pytest
from cryptography.fernet import Fernet
from django.db import connection

from notifications.core import conf
from notifications.core.models import (
    ArchiveKey,
    ErasureJob,
    Notification,
    Producer,
    Recipient,
    Template,
)
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres.past_days import Lease
from notifications.features.archive import days, find
from notifications.features.archive.find import ArchivedNotification, Period
from notifications.features.archive.keys import UnreadableKey
from notifications.features.archive.personal import Unreadable
from notifications.features.archive.targets import ArchiveUnavailable
from tests.features.archive.conftest import DAY, Configure
from tests.old_days import drop_day
from tests.past_rows import fill, id_of

pytestmark = pytest.mark.django_db(transaction=True)
_ALL = Period()
_TERMS = {"name": "terms.pdf", "size": 5, "digest": "5e" * 32, "of_template": True}


@pytest.fixture
def archived(day: dt.date, folder: Path) -> Iterator[list[dt.date]]:
    """Two archived days of recipient `user-3` (1003) and the producer of their keys."""
    assert not folder.exists()
    Recipient.objects.create(pk=1003, mode=Mode.LIVE, user_id="user-3")
    Producer.objects.create(pk=1, name="orders")
    fill(day - DAY, notifications=16, people=8)
    Notification.objects.filter(pk=id_of(day, 20)).update(attachments=[_TERMS])
    for each in (day - DAY, day):
        with Lease(each) as lease:
            assert days.advance(lease)
    yield [day - DAY, day]
    drop_day(day - DAY)


def _ids(found: Iterator[ArchivedNotification]) -> list[UUID]:
    return [UUID(each.notification["id"]) for each in found]


@pytest.mark.parametrize("number", [0, 1])
def test_a_notification_is_found_by_its_id_and_by_its_deliverys(
    archived: list[dt.date], number: int
) -> None:
    own = id_of(archived[1], 20)
    (found,) = find.by_notification(ids.delivery_id(own, 1) if number else own)
    row = found.to_json()
    assert row["id"] == str(own)
    assert row["user_id"] == "user-4"
    assert row["content"]["body"] == 'Line one\n"two", 20'
    assert row["variables"] == {"name": "Ada", "order_id": "ORD-20"}
    assert row["metadata"] == {"order": 20}
    assert row["attachments"] == [_TERMS]
    assert row["idempotency_key"] == "order-20"
    assert [each["id"] for each in found.deliveries] == [str(ids.delivery_id(own, 1))]
    assert [each["detail"] for each in found.attempts] == ['said, "250 ok"']
    assert [each["status"] for each in found.events] == [1, 2, 3, 4]
    assert [each["detail"] for each in found.events] == ["", "", "detail of 20", ""]


def test_an_unknown_id_is_not_found(archived: list[dt.date]) -> None:
    assert find.by_notification(id_of(archived[1], 4_000)) == []
    assert find.by_notification(id_of(archived[1] - 50 * DAY, 1)) == []


def test_a_user_is_found_on_all_days_and_within_a_period(archived: list[dt.date]) -> None:
    numbers = {archived[0]: (3, 11), archived[1]: (3, 11, 19, 27, 35)}
    newest = [id_of(archived[1], number) for number in numbers[archived[1]]]
    oldest = [id_of(archived[0], number) for number in numbers[archived[0]]]
    found = _ids(find.by_user("user-3", mode=Mode.LIVE, period=_ALL))
    assert found == newest + oldest
    since = Period(since=archived[1])
    assert _ids(find.by_user("user-3", mode=Mode.LIVE, period=since)) == newest
    until = Period(until=archived[0])
    assert _ids(find.by_user("user-3", mode=Mode.LIVE, period=until)) == oldest
    assert _ids(find.by_user("user-3", mode=Mode.TEST, period=_ALL)) == []
    assert _ids(find.by_user("unknown", mode=Mode.LIVE, period=_ALL)) == []


def test_a_key_is_found_for_its_producer(archived: list[dt.date]) -> None:
    both = [id_of(archived[1], 8), id_of(archived[0], 8)]
    assert _ids(find.by_key("order-8", period=_ALL)) == both
    assert _ids(find.by_key("order-8", producer="orders", period=_ALL)) == both
    assert _ids(find.by_key("order-8", producer="other", period=_ALL)) == []
    assert _ids(find.by_key("order-7", period=_ALL)) == []


@pytest.mark.usefixtures("archived")
def test_without_its_key_a_recipient_is_unreadable(day: dt.date) -> None:
    ArchiveKey.objects.filter(pk=1003).delete()
    (found,) = find.by_notification(id_of(day, 3))
    assert found.notification["erased"] is True
    assert not {"user_id", "content", "variables", "metadata"} & found.notification.keys()
    assert [each["status"] for each in found.events] == [1, 2, 3, 4]


def test_a_former_encryption_key_still_opens_the_archive(
    archived: list[dt.date], configure: Configure
) -> None:
    fresh, (old,) = Fernet.generate_key().decode(), conf.current().encryption_keys
    configure(encryption_keys=(fresh, old))
    assert len(find.by_notification(id_of(archived[1], 3))) == 1
    assert _ids(find.by_key("order-8", period=Period(since=archived[1]))) == [id_of(archived[1], 8)]
    configure(encryption_keys=(fresh,))
    with pytest.raises(UnreadableKey, match="NOTIFY_ENCRYPTION_KEYS"):
        find.by_notification(id_of(archived[1], 3))


def test_a_missing_file_is_named(archived: list[dt.date], folder: Path) -> None:
    for path in folder.rglob("delivery-*"):
        path.unlink()
    with pytest.raises(ArchiveUnavailable, match="delivery-"):
        find.by_notification(id_of(archived[1], 3))


@pytest.mark.parametrize("table", ["notification", "delivery", "attempt", "event"])
@pytest.mark.parametrize(("place", "damage"), [(-4, b"XXXX"), (-200, bytes(100)), (60, b"~" * 200)])
def test_a_damaged_file_is_named(
    archived: list[dt.date], folder: Path, table: str, place: int, damage: bytes
) -> None:
    (path,) = (folder / archived[1].isoformat()).glob(f"{table}-*")
    content = path.read_bytes()
    start = place % len(content)
    path.write_bytes(content[:start] + damage + content[start + len(damage) :])
    with pytest.raises(Unreadable, match=f"{table}-.* is damaged"):
        find.by_notification(id_of(archived[1], 3))


def test_a_search_that_ends_early_leaves_the_other_days_unread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on = threading.Event()
    read: list[int] = []

    class Pool(ThreadPoolExecutor):
        """The second day ends after the end of the search."""

        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - the standard library's signature
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            go_on.set()
            super().shutdown(wait=wait)

    @dataclass(frozen=True)
    class Day:
        number: int

        def read(self, _table: str, _filters: object) -> list[dict[str, int]]:
            read.append(self.number)
            assert self.number == 0 or go_on.wait(30)
            return [{"id": self.number}]

    monkeypatch.setattr(find, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(find, "_READERS", 1)
    stand_ins: Any = [Day(number) for number in range(5)]
    days_found: Any = find._read_all(stand_ins, "key", [])
    assert next(days_found)[1] == [{"id": 0}]
    days_found.close()
    assert set(read) <= {0, 1}


def test_no_personal_and_no_sensitive_value_is_readable_in_the_files(
    day: dt.date, folder: Path
) -> None:
    first = Template.objects.create(template_id="code", version=1)
    Template.objects.create(template_id="code", version=2, sensitive_variables=["pin"])
    with connection.cursor() as running:
        running.execute(
            "UPDATE notification SET secrets = 'the-sealed-secret'::bytea, template = %s,"
            " variables = variables || %s WHERE id = %s",
            [first.pk, '{"note": "a-personal-note", "pin": "4711-secret"}', id_of(day, 3)],
        )
    with Lease(day) as lease:
        assert days.advance(lease)
    raw = b"".join(path.read_bytes() for path in folder.rglob("*.parquet"))
    tables = [pq.read_table(path).to_pylist() for path in sorted(folder.rglob("*.parquet"))]
    seen = raw + repr(tables).encode()
    personal = (b"a-personal-note", b"user-3", b"ORD-3", b"order-8")
    for value in (*personal, b"the-sealed-secret", b"4711-secret"):
        assert value not in seen
    (found,) = find.by_notification(id_of(day, 3))
    assert found.notification["variables"]["note"] == "a-personal-note"
    assert "secret" not in repr(found.to_json())
    assert "pin" not in found.notification["variables"]


@pytest.mark.usefixtures("folder")
def test_a_recipient_erased_before_the_export_gets_no_key(day: dt.date) -> None:
    ErasureJob.objects.create(mode=Mode.LIVE, recipient_id=1003, requested_by="test")
    with Lease(day) as lease:
        assert days.advance(lease)
    assert sorted(ArchiveKey.objects.values_list("pk", flat=True)) == [
        recipient for recipient in range(1000, 1008) if recipient != 1003
    ]
    (found,) = find.by_notification(id_of(day, 3))
    assert found.notification["erased"] is True
    (other,) = find.by_notification(id_of(day, 4))
    assert other.notification["user_id"] == "user-4"
