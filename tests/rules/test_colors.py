"""Text on a colour can be read, and a colour without contrast gets a near colour with contrast."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from notifications.core.rules import brand, colors

COLORS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [
        # Published examples of WCAG's formula.
        ("#000000", "#ffffff", 21.0),
        ("#767676", "#ffffff", 4.54),
        ("#777777", "#ffffff", 4.48),
        ("#ffff00", "#ffffff", 1.07),
        ("#0000ff", "#ffffff", 8.59),
    ],
)
def test_the_ratio_is_that_of_wcag(first: str, second: str, ratio: float) -> None:
    assert round(colors.ratio(first, second), 2) == ratio
    assert colors.ratio(first, second) == colors.ratio(second, first)


@given(COLORS)
@example("#767676")
def test_text_on_each_colour_can_be_read(color: str) -> None:
    assert colors.ratio(colors.text_on(color), color) >= colors.LEAST_RATIO


@given(COLORS)
@example("#ffffff")
@example("#000000")
def test_a_refused_colour_gets_one_that_is_accepted(color: str) -> None:
    fault = brand.color_fault(color)
    nearest = colors.darker(color)
    assert brand.color_fault(nearest) == ""
    if fault:
        assert nearest in fault
        assert "4.5 to 1" in fault
    else:
        assert nearest == color


@given(COLORS)
def test_a_tint_for_a_dark_page_can_be_read(color: str) -> None:
    tint = colors.lighter(color, on="#18181b")
    assert colors.ratio(tint, "#18181b") >= colors.LEAST_RATIO


@pytest.mark.parametrize("text", ["", "red", "#fff", "#12345g", "#1D4ED8", "#1d4ed8;", "#1d4ed8\n"])
def test_another_spelling_is_no_colour(text: str) -> None:
    assert "six hexadecimal digits" in brand.color_fault(text)


def test_the_ratio_in_a_sentence_is_below_the_limit() -> None:
    assert "contrast of 4.47 to 1" in brand.color_fault("#777777")
