"""The winner of an A/B test, also with a tie and with too little data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.features.bulk_jobs.rules import variants
from notifications.features.bulk_jobs.rules.variants import VariantResult


@pytest.mark.parametrize(
    ("a", "b", "name", "reason"),
    [
        (
            (500, 40),
            (500, 60),
            "b",
            "Variant b won (a: 8.0% of 500 clicked; b: 12.0% of 500",
        ),
        ((500, 60), (50, 5), "a", "No clear winner: variant a is sent"),  # shares, not counts
        ((500, 40), (500, 45), "b", "No clear winner: variant b is sent"),  # p = 0.57
        ((30, 0), (30, 4), "b", "No clear winner: variant b is sent"),  # too few to tell
        ((500, 50), (250, 25), "a", "a tie"),
        ((500, 0), (500, 0), "a", "a tie"),
        ((500, 1), (29, 29), "a", "each variant needs 30 sent messages"),
        ((0, 0), (0, 0), "a", "each variant needs 30 sent messages"),
    ],
)
def test_the_best_share_wins(
    a: tuple[int, int], b: tuple[int, int], name: str, reason: str
) -> None:
    chosen = variants.choose_winner(
        [VariantResult("a", *a), VariantResult("b", *b)], metric="clicked"
    )
    assert chosen.name == name
    assert reason in chosen.reason


def test_with_more_variants_chance_needs_a_larger_difference() -> None:
    three = [VariantResult("a", 500, 40), VariantResult("b", 500, 60), VariantResult("c", 500, 39)]
    assert "No clear winner" in variants.choose_winner(three, metric="clicked").reason


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), min_size=1, max_size=8))
def test_the_winner_is_a_variant_and_no_variant_is_better(counts: list[tuple[int, int]]) -> None:
    results = [VariantResult(str(n), sent, count) for n, (sent, count) in enumerate(counts)]
    chosen = variants.choose_winner(results, metric="read")
    [won] = [each for each in results if each.name == chosen.name]
    assert won is results[0] or all(each.share <= won.share for each in results)
