"""References of characters in HTML of other people, of any length."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers import html_references

LONG = "&#" + "9" * 5_000


@pytest.mark.parametrize("end", [";", "", "x"])
def test_a_number_that_no_character_has_is_the_replacement_character(end: str) -> None:
    with pytest.raises(ValueError, match="4300 digits"):
        html.unescape(LONG + end)
    assert html_references.unescape(f"a {LONG}{end}") == f"a \ufffd{end.strip(';')}"


@given(st.text("&#;x0aZ9<"))
def test_other_references_are_those_of_html(text: str) -> None:
    assert html_references.unescape(text) == html.unescape(text)
