"""Operators enter addresses, take them back with a reason, and carry the list in and out."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from notifications.core.models import Suppression
from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres import suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.contract import Channel
from tests.admin.conftest import ADDRESS

LIST = reverse("admin:notifications_suppression_changelist")
ADD = reverse("admin:notifications_suppression_add")
UPLOAD, DOWNLOAD = f"{LIST}upload/", f"{LIST}download/"


@pytest.fixture
def bounced(db: None) -> Suppression:  # noqa: ARG001 - asked for by name
    entry = SuppressionEntry(channel=Channel.EMAIL, address=ADDRESS, cause=Cause.BOUNCE, note="550")
    suppressions.add([entry], by="ses", provider="ses")
    return Suppression.objects.get()


def page(row: Suppression) -> str:
    return reverse("admin:notifications_suppression_change", args=[row.pk])


def undo_page(row: Suppression) -> str:
    return f"{LIST}{row.pk}/undo/"


def upload(client: Client, text: str | bytes) -> str:
    raw = text if isinstance(text, bytes) else text.encode()
    return client.post(UPLOAD, {"file": SimpleUploadedFile("x.csv", raw)}).content.decode()


def test_an_operator_enters_an_address_under_their_name(door: Client) -> None:
    for _ in range(2):
        given = {"channel": 3, "address": "Maria@Example.com", "note": "by phone"}
        assert door.post(ADD, given).status_code == 302
    row = Suppression.objects.get()
    assert (row.address, row.reason, row.created_by, row.note) == (
        "maria@example.com",
        "manual",
        "operator",
        "by phone",
    )


def test_what_is_no_address_is_told_beside_its_field(door: Client) -> None:
    answer = door.post(ADD, {"channel": 2, "address": "0151", "note": ""})
    assert "It must be an E.164 number" in answer.content.decode()
    assert not Suppression.objects.exists()


def test_an_entry_is_undone_with_a_reason_and_stays(door: Client, bounced: Suppression) -> None:
    assert door.get(undo_page(bounced)).status_code == 200
    assert "required" in door.post(undo_page(bounced), {"note": ""}).content.decode()
    assert Suppression.objects.filter(undone_at=None).exists()
    door.post(undo_page(bounced), {"note": "mailbox was full"})
    bounced.refresh_from_db()
    assert (bounced.undone_by, bounced.undo_note) == ("operator", "mailbox was full")
    assert "mailbox was full" in door.get(page(bounced)).content.decode()


def test_an_address_is_found_whole_and_shown_on_its_own_page_alone(
    door: Client, bounced: Suppression
) -> None:
    assert ADDRESS not in door.get(LIST).content.decode()
    assert ADDRESS not in door.get(page(bounced)).content.decode()
    assert ADDRESS in door.get(f"{page(bounced)}?show=address").content.decode()
    assert page(bounced) in door.get(LIST, {"q": f" {ADDRESS.upper()}"}).content.decode()
    assert page(bounced) not in door.get(LIST, {"q": ADDRESS[:5]}).content.decode()


def test_the_list_goes_out_as_a_file_and_comes_in_again(door: Client, bounced: Suppression) -> None:
    answer = door.get(DOWNLOAD)
    assert "attachment" in answer.headers["Content-Disposition"]
    text = answer.getvalue().decode()
    assert f"email,{ADDRESS},bounce,ses,550," in text
    said = upload(door, text + "sms,<b>x</b>,,,,,\n")
    assert "1 added, 0 known already, 1 refused" in said
    assert "<b>x" not in said
    row = Suppression.objects.exclude(pk=bounced.pk).get()
    assert (row.reason, row.created_by) == ("import", "operator")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "must name the columns"),
        (b"channel,address\n\xff", "not UTF-8"),
        (b" " * (8 * 1024 * 1024 + 1), "split the file"),
    ],
)
def test_a_file_that_is_none_says_why(door: Client, text: str | bytes, said: str) -> None:
    assert said in upload(door, text)
    assert not Suppression.objects.exists()


def test_who_may_only_look_changes_nothing_and_takes_nothing_away(
    window: Client, bounced: Suppression
) -> None:
    assert window.get(LIST).status_code == 200
    assert window.post(undo_page(bounced), {"note": "x"}).status_code == 403
    assert window.post(ADD, {"channel": 3, "address": "a@b.example"}).status_code == 403
    assert window.get(DOWNLOAD).status_code == 403
    assert window.get(UPLOAD).status_code == 403
    assert Suppression.objects.filter(undone_at=None).count() == 1


def test_an_address_in_a_note_is_masked_like_the_address(door: Client) -> None:
    door.post(ADD, {"channel": 3, "address": ADDRESS, "note": f"asked for by {ADDRESS}"})
    row = Suppression.objects.get()
    door.post(undo_page(row), {"note": f"{ADDRESS} wrote"})
    assert ADDRESS not in door.get(page(row)).content.decode()
    assert f"{ADDRESS} wrote" in door.get(page(row), {"show": "address"}).content.decode()
