"""The page about statuses says what the code does."""

from __future__ import annotations

from tests.architecture import states_page


def test_the_page_is_generated_from_the_tables_of_the_code() -> None:
    hint = "run: python -m tests.architecture.states_page"
    assert states_page.PAGE.read_text() == states_page.text(), hint
