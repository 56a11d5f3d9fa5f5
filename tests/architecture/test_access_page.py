"""The page about access says what the table says."""

from __future__ import annotations

from tests.architecture import access_page


def test_the_page_is_generated_from_the_table() -> None:
    hint = "run: python -m tests.architecture.access_page"
    assert access_page.PAGE.read_text() == access_page.text(), hint
