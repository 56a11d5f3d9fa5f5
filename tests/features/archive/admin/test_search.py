"""Operators with the right search the archive; others see neither the page nor personal values."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from notifications.core.models import (
    ArchiveDay,
    ArchiveState,
    AuditEntry,
    Event,
    Producer,
    Recipient,
)
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres.past_days import Lease
from notifications.features.archive import days
from tests.admin import axe
from tests.admin.chromium import Browser
from tests.past_rows import id_of

PAGE = "/admin/notifications/archiveday/search/"
_PEOPLE = 8

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def archived(day: dt.date, folder: Path) -> dt.date:  # noqa: ARG001 - the archive is set up by name
    """A day in the archive."""
    Recipient.objects.bulk_create(
        Recipient(pk=1000 + number, user_id=f"user-{number}") for number in range(_PEOPLE)
    )
    Producer.objects.create(pk=1, name="orders")
    with Lease(day) as lease:
        assert days.advance(lease)
    return day


def _search(client: Client, **values: object) -> str:
    answer = client.post(PAGE, {"mode": 1, **values})
    assert answer.status_code == 200, answer
    return answer.content.decode()


def test_the_list_shows_an_expired_day_whose_files_stay_elsewhere(door: Client) -> None:
    past = dt.date(2023, 1, 1)
    ArchiveDay.objects.create(day=past, state=ArchiveState.EXPIRED, problem="4 files stay")
    ArchiveDay.objects.create(day=past + dt.timedelta(days=1), state=ArchiveState.EXPIRED)
    text = door.get("/admin/notifications/archiveday/").content.decode()
    assert text.count("expired; files stay elsewhere") == 1
    assert "4 files stay" in text


def test_a_notification_is_found_with_timeline_and_audit_entry(
    door: Client, archived: dt.date
) -> None:
    wanted = id_of(archived, 20)
    text = _search(door, notification=wanted)
    assert "1 message<" in text
    assert "user-4" in text
    assert "said, &quot;250 ok&quot;" in text
    assert "detail of 20" in text
    entry = AuditEntry.objects.get(operation="read_archive")
    assert (entry.by, entry.object_name) == ("operator", str(wanted))
    assert entry.after == {"criterion": "notification", "notifications": 1}


def test_a_user_and_a_key_are_found_and_not_in_the_audit_log(
    door: Client, archived: dt.date
) -> None:
    assert "5 messages" in _search(door, user_id="user-3", since=archived, until=archived)
    assert str(id_of(archived, 20)) in _search(door, key="order-20")
    assert "Nothing found" in _search(door, key="order-20", mode=Mode.TEST)
    entries = AuditEntry.objects.filter(operation="read_archive").order_by("pk")
    assert [each.object_name for each in entries] == ["", "", ""]
    assert [each.after["notifications"] for each in entries] == [5, 1, 0]


def test_personal_values_are_hidden_without_the_right_to_see_addresses(
    window: Client, viewer: User, archived: dt.date
) -> None:
    viewer.user_permissions.add(Permission.objects.get(codename="read_archive"))
    text = _search(window, notification=id_of(archived, 20))
    assert "Personal values are hidden" in text
    assert "Timeline" in text
    for value in ("user-4", "ORD-20", "Line one", "order-20"):
        assert value not in text


def test_the_page_needs_its_right(window: Client, archived: dt.date) -> None:
    assert window.get(PAGE).status_code == 403
    assert window.post(PAGE, {"notification": id_of(archived, 1)}).status_code == 403
    assert "Search the archive" not in window.get(PAGE[: -len("search/")]).content.decode()


def test_an_event_without_a_status_is_shown_by_its_reason(
    door: Client,
    folder: Path,  # noqa: ARG001 - the archive is set up by name
    day: dt.date,
) -> None:
    events = Event.objects.filter(notification_id=id_of(day, 20), status=4)
    assert events.update(status=None, reason="failed_over") == 1
    with Lease(day) as lease:
        assert days.advance(lease)
    assert "failed_over" in _search(door, notification=id_of(day, 20))


def test_a_damaged_file_is_an_error_of_the_form(
    door: Client, folder: Path, archived: dt.date
) -> None:
    (path,) = folder.rglob("notification-*.parquet")
    path.write_bytes(path.read_bytes()[:-4])
    text = _search(door, notification=id_of(archived, 20))
    assert f"The archive was not read: {archived}/{path.name} is damaged" in text


def test_mistakes_and_an_absent_archive_are_errors_of_the_form(
    door: Client,
    folder: Path,
    archived: dt.date,
) -> None:
    assert "one of them" in _search(door)
    assert "one of them" in _search(door, user_id="user-3", key="order-20")
    assert "Enter a valid UUID" in _search(door, notification="order-20")
    shutil.rmtree(folder)
    assert "The archive was not read" in _search(door, notification=id_of(archived, 1))
    assert not AuditEntry.objects.filter(operation="read_archive").exists()


@pytest.mark.skipif(
    not (shutil.which("chromium") and shutil.which("chromedriver")),
    reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
)
@pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix .ci/axe")
def test_the_pages_suit_every_reader_at_each_size(browser: Browser, archived: dt.date) -> None:  # noqa: ARG001 - the archive is set up by name
    found: dict[str, list[str]] = {}
    for name, key in (("form", ""), ("nothing", "order-21"), ("message", "order-20")):
        browser.open("notifications/archiveday/")
        browser.click("a[href$='archiveday/search/']")
        if key:
            browser.see("[name=key]").send_keys(key)
            browser.click("#search [type=submit]")
            browser.wait_for("#found h2", "1 message" if name == "message" else "Nothing found")
        for look in axe.looks(browser.chrome):
            found[f"{name}-{look}"] = axe.violations(browser.chrome, name=f"archive-{name}-{look}")
            if axe.scrolls_sideways(browser.chrome):
                found[f"{name}-{look}"].append("the page scrolls sideways")
    assert {name: faults for name, faults in found.items() if faults} == {}
    assert not browser.errors()
