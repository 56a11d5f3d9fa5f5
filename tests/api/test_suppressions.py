"""`/v1/suppressions`: add an address, add a file of addresses, and remove an address."""

from __future__ import annotations

import csv
import io
from functools import partial
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from notifications.core.api.body_limits import MEBIBYTE
from notifications.core.models import Recipient, Suppression
from notifications.core.operations import suppression_csv
from notifications.core.rules.lane import Mode
from notifications.core.rules.suppression import BY_PERSON, Cause
from notifications.core.store.postgres import suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller
from tests.interleaving import before

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

PATH = "/v1/suppressions"
MARIA = {"channel": "email", "address": "maria@example.com"}


def upload(caller: Caller, text: str | bytes) -> Reply:
    raw = text if isinstance(text, bytes) else text.encode()
    return caller._client.post(PATH, raw, content_type="text/csv")


def test_an_address_is_entered_found_and_taken_back(caller: Caller, maria: Recipient) -> None:
    del maria
    made = caller.post(PATH, MARIA | {"note": "asked by phone"})
    assert made.status_code == 201
    said = made.json()
    assert (said["reason"], said["created_by"]) == (
        "manual",
        f"producer orders ({caller.key.prefix})",
    )
    assert caller.post(PATH, MARIA).json()["id"] == said["id"]
    body = {"user_id": "maria", "type": "X", "priority": "P0", "content": {"body": "4711"}}
    sent = caller.post("/v1/notifications", body | {"channels": ["email"]}).json()
    assert sent["status"] == "suppressed"
    found = caller.get(PATH, channel="email", address="MARIA@example.com").json()["results"]
    assert [each["id"] for each in found] == [said["id"]]
    assert caller.send("DELETE", f"{PATH}/{said['id']}?note=she+called+again").status_code == 204
    assert caller.send("DELETE", f"{PATH}/{said['id']}").status_code == 404
    assert caller.get(PATH).json()["results"] == []
    [undone] = caller.get(PATH, undone="true").json()["results"]
    assert (undone["undo_note"], undone["undone_by"]) == ("she called again", said["created_by"])


@pytest.mark.django_db(transaction=True)
def test_an_entry_that_is_undone_meanwhile_is_answered(caller: Caller) -> None:
    known = caller.post(PATH, MARIA).json()["id"]
    rows = Suppression.objects.filter(pk=known)
    undo = partial(suppressions.undo, rows, by="maria", note="")
    reads = 'FROM "notifications_suppression"'
    with before((reads, lambda: None), (reads, undo)):
        answer = caller.post(PATH, MARIA)
    assert (answer.status_code, answer.json()["id"]) == (201, known)
    assert answer.json()["undone_by"] == "maria"


def test_the_list_is_paged(caller: Caller) -> None:
    for number in range(3):
        caller.post(PATH, {"channel": "sms", "address": f"+491511234567{number}"})
    first = caller.get(PATH, limit=2).json()
    rest = caller.get(PATH, limit=2, cursor=first["next"]).json()
    assert [len(first["results"]), len(rest["results"]), rest["next"]] == [2, 1, None]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"channel": "email", "address": "nobody"},
        {"channel": "sms", "address": "0151"},
        {"channel": "pigeon", "address": "x"},
        {"channel": "push", "address": "a\0b"},
        {"channel": "push", "address": "a\nb"},
        MARIA | {"reason": "bounce"},
        MARIA | {"note": "x" * 201},
    ],
)
def test_what_is_no_address_is_refused(caller: Caller, body: object) -> None:
    assert caller.post(PATH, body).status_code == 422
    assert not Suppression.objects.exists()


def test_an_address_is_looked_up_on_a_channel(caller: Caller) -> None:
    assert caller.get(PATH, address="maria@example.com").status_code == 422


def test_a_file_comes_in_and_goes_out_again(caller: Caller) -> None:
    text = (
        "\ufeffchannel,address,reason,note\r\n"
        "email,Maria@Example.com,bounce,550 5.1.1\r\n"
        "email,maria@example.com,,\r\n"
        'sms,+4915112345678,,"=HYPERLINK(""x"")"\r\n'
        "sms,nonsense,,\r\n"
        "fax,1,,\r\n"
    )
    assert upload(caller, text).json() == {
        "added": 2,
        "known": 1,
        "refused": 2,
        "faults": [
            {"line": 5, "detail": "address must be an E.164 number, like +4915112345678"},
            {"line": 6, "detail": "channel must be one of push, sms, email, in_app, webhook, chat"},
        ],
    }
    answer = caller._client.get(PATH, headers={"Accept": "text/csv"})
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    out = answer.getvalue().decode()
    rows = {row["address"]: row for row in csv.DictReader(io.StringIO(out))}
    assert rows["maria@example.com"]["reason"] == "import"
    assert rows["maria@example.com"]["note"] == "bounce: 550 5.1.1"
    assert rows["+4915112345678"]["note"].startswith("'=")
    assert upload(caller, out).json()["known"] == 2


def test_a_long_list_goes_out_page_by_page(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suppression_csv, "_PER_READ", 2)
    lines = "".join(f"email,{number}@example.com\n" for number in range(7))
    assert upload(caller, f"channel,address\n{lines}").json()["added"] == 7
    with CaptureQueriesContext(connection) as asked:
        out = caller._client.get(PATH, headers={"Accept": "text/csv"}).getvalue().decode()
    rows = [row["address"] for row in csv.DictReader(io.StringIO(out))]
    assert rows == [f"{number}@example.com" for number in reversed(range(7))]
    assert not any("CURSOR" in each["sql"] for each in asked.captured_queries)


def test_no_cell_of_a_file_is_run_by_a_spreadsheet_and_none_is_changed_by_that(
    caller: Caller,
) -> None:
    assert upload(caller, "channel,address\nemail,=1+cmd@example.com\n").json()["added"] == 1
    out = caller._client.get(PATH, headers={"Accept": "text/csv"}).getvalue().decode()
    assert "email,'=1+cmd@example.com," in out
    assert upload(caller, out).json()["known"] == 1


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", 422),
        ("a,b\n1,2\n", 422),
        ('channel,address\nemail,"x\n', 422),
        ("channel,address\nemail," + "x" * 200_000, 422),
        (",".join(["channel", "address", *("x" * 31)]) + "\nemail,a@b.example\n", 422),
        (b"channel,address\nemail,\xff", 400),
        (b" " * (8 * MEBIBYTE + 1), 413),
    ],
)
def test_a_file_that_is_no_table_enters_nothing(
    caller: Caller, text: str | bytes, status: int
) -> None:
    assert upload(caller, text).status_code == status
    assert not Suppression.objects.exists()


def test_a_line_may_have_more_or_fewer_cells_than_there_are_columns(caller: Caller) -> None:
    text = "note,channel,address\nx,email,a@b.example,more,and more\n\ny,email\nz\n"
    assert upload(caller, text).json() == {
        "added": 1,
        "known": 0,
        "refused": 2,
        "faults": [
            {"line": 4, "detail": "address must have 1 to 2048 printable characters"},
            {"line": 5, "detail": "channel must be one of push, sms, email, in_app, webhook, chat"},
        ],
    }


def test_a_test_key_has_no_list(make_caller: MakeCaller) -> None:
    caller = make_caller(mode=Mode.TEST)
    assert caller.get(PATH).status_code == 403
    assert caller.post(PATH, MARIA).status_code == 403
    assert upload(caller, "channel,address\nemail,a@b.example\n").status_code == 403
    assert not Suppression.objects.exists()


def test_the_list_needs_scopes_of_its_own(make_caller: MakeCaller) -> None:
    reader = make_caller(scopes=("suppressions:read",))
    assert reader.get(PATH).status_code == 200
    assert reader.post(PATH, MARIA).status_code == 403
    assert reader.send("DELETE", f"{PATH}/1").status_code == 403
    assert make_caller(scopes=("operations:*", "recipients:*")).get(PATH).status_code == 403


@pytest.mark.parametrize("cause", sorted(BY_PERSON))
def test_no_key_undoes_what_the_person_did(caller: Caller, cause: Cause) -> None:
    entry = SuppressionEntry(channel=Channel.EMAIL, address="maria@example.com", cause=cause)
    suppressions.add([entry], by=f"producer orders ({caller.key.prefix})")
    row = Suppression.objects.get()
    answer = caller.send("DELETE", f"{PATH}/{row.pk}")
    assert (answer.status_code, answer.json()["detail"]) == (
        403,
        "made by the person: only the person, or an operator in the admin, can undo it",
    )
    row.refresh_from_db()
    assert row.undone_at is None


def test_an_entry_is_undone_by_its_own_producer_alone(make_caller: MakeCaller) -> None:
    support, marketing = make_caller("support (phone)"), make_caller("marketing")
    made = support.post(PATH, MARIA | {"note": "asked by phone"}).json()
    assert marketing.send("DELETE", f"{PATH}/{made['id']}").status_code == 403
    later = make_caller("support (phone)")
    assert later.send("DELETE", f"{PATH}/{made['id']}").status_code == 204


def test_an_operators_entry_is_undone_by_no_key(caller: Caller) -> None:
    entry = SuppressionEntry(channel=Channel.EMAIL, address="maria@example.com", cause=Cause.MANUAL)
    suppressions.add([entry], by="operator")
    assert caller.send("DELETE", f"{PATH}/{Suppression.objects.get().pk}").status_code == 403
