"""A push fits into the payload limit, and the body alone is cut."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.texts.push_size import PUSH_TEXT_BYTES, json_bytes, shorten_push
from providers.graphemes import ELLIPSIS


@pytest.mark.parametrize(
    "body", ["", "short", "a" * (PUSH_TEXT_BYTES - 5), "€" * ((PUSH_TEXT_BYTES - 5) // 3)]
)
def test_what_fits_stays_as_it_is(body: str) -> None:
    assert shorten_push("Title", body) == body


@pytest.mark.parametrize(
    "unit", ["a", "é", "€", "😀", "👨‍👩‍👧", "e\u0301", '"', "\x01", "🇩🇪", "\ud800"]
)
def test_a_long_body_is_cut_between_two_characters(unit: str) -> None:
    cut = shorten_push("Title", unit * 5_000)
    assert (
        PUSH_TEXT_BYTES - json_bytes(unit) - 5
        < json_bytes("Title") + json_bytes(cut)
        <= PUSH_TEXT_BYTES
    )
    kept = cut.removesuffix(ELLIPSIS)
    assert kept == unit * (len(kept) // len(unit))


def test_a_title_that_fills_everything_is_left_to_the_provider() -> None:
    assert shorten_push("t" * 5_000, "body") == ELLIPSIS


def test_the_urls_take_their_part_of_the_room() -> None:
    urls = ("/" + "u" * 999, "")
    cut = shorten_push("Title", "a" * 5_000, urls=urls)
    assert PUSH_TEXT_BYTES - 1_100 < json_bytes("Title") + json_bytes(cut) + 1_000 < PUSH_TEXT_BYTES
    assert shorten_push("Title", "a" * 2_000, urls=urls) == "a" * 2_000


@given(st.text(max_size=400), st.text(min_size=1, max_size=60), st.integers(1, 900))
def test_anything_fits_and_begins_as_it_was(title: str, piece: str, times: int) -> None:
    body = piece * times
    cut = shorten_push(title, body)
    if json_bytes(title) < PUSH_TEXT_BYTES - 3:
        assert json_bytes(title) + json_bytes(cut) <= PUSH_TEXT_BYTES
    if cut != body:
        kept = cut.removesuffix(ELLIPSIS)
        assert body.startswith(kept)
        assert "".join(regex.findall(r"\X", body)[: len(regex.findall(r"\X", kept))]) == kept or (
            body[len(kept)].isspace()
        )
