"""The suppression list as CSV: wrong lines are counted, and no cell starts a formula."""

from __future__ import annotations

import csv

import pytest

from notifications.models import Suppression
from notifications.operations import suppression_csv

pytestmark = pytest.mark.django_db


def test_a_wrong_line_does_not_stop_the_import() -> None:
    text = (
        "channel,address\n"
        "email,maria@example.com\n"
        "email,no mailbox\n"
        "fax,+15551234567\n"
        "sms,+15551234567\n"
        "email,maria@example.com\n"
    )
    result = suppression_csv.import_text(text, by="tests")
    assert (result.added, result.known, result.refused) == (2, 1, 2)
    assert [fault.line for fault in result.faults] == [3, 4]


@pytest.mark.parametrize("text", ["", "address\nmaria@example.com\n"])
def test_a_file_without_the_required_columns_is_refused(text: str) -> None:
    with pytest.raises(suppression_csv.InvalidFile):
        suppression_csv.import_text(text, by="tests")
    assert not Suppression.objects.exists()


def test_a_note_that_starts_a_formula_gets_an_apostrophe_that_the_import_removes() -> None:
    address = "=cmd@example.com"
    suppression_csv.import_text(f"channel,address\nemail,{address}\n", by="tests")
    lines = list(suppression_csv.export_lines(Suppression.objects.all()))
    [row] = csv.DictReader("".join(lines).splitlines())
    assert row["address"] == f"'{address}"
    again = suppression_csv.import_text("".join(lines), by="tests")
    assert (again.added, again.known, again.refused) == (0, 1, 0)
