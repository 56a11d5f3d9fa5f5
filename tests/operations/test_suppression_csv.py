"""The suppression list as CSV: wrong lines are counted, and no cell starts a formula."""

from __future__ import annotations

import csv
import io

import pytest

from notifications.core.models import Suppression
from notifications.core.operations import suppression_csv
from notifications.core.rules.csv_reader import InvalidFile
from tests.rules.test_csv_reader import SPREADSHEETS

pytestmark = pytest.mark.django_db


def imported(file: str | bytes) -> suppression_csv.ImportResult:
    raw = file.encode() if isinstance(file, str) else file
    return suppression_csv.import_file(io.BytesIO(raw), by="tests")


def test_a_wrong_line_does_not_stop_the_import() -> None:
    text = (
        "channel,address\n"
        "email,maria@example.com\n"
        "email,no mailbox\n"
        "fax,+15551234567\n"
        "sms,+15551234567\n"
        "email,maria@example.com\n"
    )
    result = imported(text)
    assert (result.added, result.known, result.refused) == (2, 1, 2)
    assert [fault.line for fault in result.faults] == [3, 4]


@pytest.mark.parametrize("text", ["", "address\nmaria@example.com\n"])
def test_a_file_without_the_required_columns_is_refused(text: str) -> None:
    with pytest.raises(InvalidFile):
        imported(text)
    assert not Suppression.objects.exists()


def test_a_note_that_starts_a_formula_gets_an_apostrophe_that_the_import_removes() -> None:
    address = "=cmd@example.com"
    imported(f"channel,address\nemail,{address}\n")
    lines = list(suppression_csv.export_lines(Suppression.objects.all()))
    [row] = csv.DictReader("".join(lines).splitlines())
    assert row["address"] == f"'{address}"
    again = imported("".join(lines))
    assert (again.added, again.known, again.refused) == (0, 1, 0)


@pytest.mark.parametrize("name", SPREADSHEETS)
def test_a_file_of_each_spreadsheet_is_taken(name: str) -> None:
    table = (
        "Channel,ADDRESS,note,\r\nemail,maria@example.com,Müller,\r\nemail,bo@example.com,x,\r\n"
    )
    result = imported(SPREADSHEETS[name](table))
    assert (result.added, result.refused) == (2, 0)
    assert set(Suppression.objects.values_list("note", flat=True)) == {"Müller", "x"}


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        (b"channel,address\nemail,a@example.com\nemail,\xff@example.com\n", "line 3 is not UTF-8"),
        (b'channel,address\nemail,a@example.com\nemail,"x" y\n', "line 3 is invalid CSV"),
    ],
)
def test_a_fault_that_stops_an_import_has_its_line(file: bytes, fault: str) -> None:
    with pytest.raises(InvalidFile, match=fault):
        imported(file)
    assert not Suppression.objects.exists()
