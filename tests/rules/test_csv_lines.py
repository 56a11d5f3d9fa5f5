"""A cell is a text for the spreadsheet, and comes back as it was."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from notifications.core.rules import csv_lines


@pytest.mark.parametrize(
    "text", ["=1+1", "+49 151", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\uff1d1+1"]
)
def test_the_start_of_a_formula_gets_an_apostrophe(text: str) -> None:
    assert csv_lines.escape(text) == f"'{text}"


@given(st.one_of(st.text(), st.text("'=+- ax\t")))
@example("'=x")
def test_an_escaped_text_is_restored(text: str) -> None:
    assert csv_lines.unescape(csv_lines.escape(text)) == text


@given(
    st.lists(
        st.one_of(st.text("'\"=+-@;\t ax\n"), st.text(st.characters(exclude_categories=["Cs"]))),
        min_size=2,
    )
)
def test_a_safe_line_comes_back_as_it_was(texts: list[str]) -> None:
    line = csv_lines.safe_line(texts)
    [row] = csv.reader(io.StringIO(line, newline=""))
    assert [csv_lines.restore(cell) for cell in row] == texts
    assert not any(cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t")) for cell in row)


def test_a_text_that_a_person_types_is_restored_as_typed() -> None:
    for typed in ("'tis", "-5 % today", "a; b", "=x", ""):
        assert csv_lines.restore(typed) == typed


@given(st.lists(st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]))))
def test_a_line_is_one_row(cells: list[str]) -> None:
    [row] = list(csv.reader(io.StringIO(csv_lines.safe_line(cells), newline=""))) or [[]]
    assert [cell.replace("'", "") for cell in row] == [cell.replace("'", "") for cell in cells]


@pytest.mark.parametrize("delimiter", [";", "\t"])
@pytest.mark.parametrize("text", ["a{}=1+1{}", "a{} =1+1", 'a{}"=1+1"', "a{}\uff1d1"])
def test_another_separator_opens_no_formula(text: str, delimiter: str) -> None:
    line = csv_lines.safe_line(["x", text.format(delimiter, delimiter)])
    [row] = csv.reader(io.StringIO(line), delimiter=delimiter)
    assert not any(cell.lstrip().startswith(("=", "\uff1d")) for cell in row)


def test_numbers_stay_numbers() -> None:
    assert csv_lines.safe_line([-5, 1.5, True, None, "x"]) == "-5,1.5,yes,,x\r\n"
