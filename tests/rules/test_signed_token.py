"""A token says what it was given, to whoever has a key of it, and nothing else is believed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules import signed_token

NEW, OLD = (signed_token.key(secret, purpose="tests") for secret in ("new", "old"))
FACTS = (7, 2, "social")


@given(st.lists(st.integers(0, 2**62) | st.text(st.characters(exclude_categories=["Cs"]))))
def test_a_token_says_what_it_was_given_in_characters_of_a_url(facts: list[str | int]) -> None:
    token = signed_token.write(facts, key=NEW)
    assert set(token) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")
    assert signed_token.verify(token, keys=[NEW]) == facts


def test_a_former_key_still_reads_and_a_forgotten_one_does_not() -> None:
    token = signed_token.write(FACTS, key=OLD)
    assert signed_token.verify(token, keys=[NEW, OLD]) == list(FACTS)
    assert signed_token.verify(token, keys=[NEW]) is None


def test_what_was_signed_for_another_purpose_is_not_believed() -> None:
    other = signed_token.key("new", purpose="something else")
    assert signed_token.verify(signed_token.write(FACTS, key=other), keys=[NEW]) is None


@pytest.mark.parametrize("at", range(len(signed_token.write(FACTS, key=NEW))))
def test_a_changed_character_is_noticed(at: int) -> None:
    token = signed_token.write(FACTS, key=NEW)
    changed = "A" if token[at] != "A" else "B"
    forged = token[:at] + changed + token[at + 1 :]
    assert signed_token.verify(forged, keys=[NEW]) is None


@given(st.text(max_size=200))
def test_no_other_text_is_a_token(text: str) -> None:
    assert signed_token.verify(text, keys=[NEW, OLD]) is None
