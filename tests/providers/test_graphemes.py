"""A text is cut where a person sees the end of a character, in linear time."""

from __future__ import annotations

import time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from providers import graphemes
from providers.chat.limits import shorten

MOST_CPU_SECONDS = 5.0
"""Far more than a slow processor needs; what is not linear takes minutes."""
UNITS = ["é", "👨‍👩‍👧‍👦", "🇩🇪", "e\u0301", "क्षि", "\U0001f44b\U0001f3fd", "한"]
PIECES = st.sampled_from([
    *UNITS,
    "a",
    " ",
    "\r",
    "\n",
    "\u0301" * 9,
    "\u200d",
    "\U0001f1e9",
    "\u094d",
    "क",
    "\u0600",
    "\ud83d",
])
TEXTS = st.lists(PIECES, max_size=150).map("".join) | st.text(max_size=150)


@given(TEXTS)
def test_the_ends_are_those_of_unicode_for_a_text_of_any_length(text: str) -> None:
    assert list(graphemes.ends(text)) == [each.end() for each in regex.finditer(r"\X", text)]


@given(TEXTS, st.integers(-3, 200))
def test_the_ends_before_and_after_a_position_are_the_nearest(text: str, at: int) -> None:
    ends = [0, *graphemes.ends(text)]
    assert graphemes.last_end(text, at) == max((end for end in ends if end <= at), default=0)
    assert graphemes.next_end(text, at) == min(
        (end for end in ends if end >= at), default=len(text)
    )


@given(TEXTS, st.integers(1, 200))
def test_a_cut_text_fits_and_is_the_beginning_of_the_text(text: str, limit: int) -> None:
    shown = graphemes.cut(text, limit)
    assert len(shown) <= limit
    assert text.startswith(shown.removesuffix(graphemes.ELLIPSIS))
    assert (shown == text) == (len(text) <= limit) or text.endswith(graphemes.ELLIPSIS)


@pytest.mark.parametrize(
    "unit", ["🇩🇪", "\u0301", "👩\u200d", "क्", "\u1100", "\u0600", "a\r", "👩\u0301\u200d"]
)
def test_a_text_of_any_characters_is_cut_in_linear_time(unit: str) -> None:
    text = unit * (500_000 // len(unit))
    began = time.process_time()
    assert len(graphemes.cut(text, 400_000)) <= 400_000
    assert len(shorten(text, lambda part: len(part) <= 35_000, most=35_000)) <= 35_000
    assert time.process_time() - began < MOST_CPU_SECONDS
