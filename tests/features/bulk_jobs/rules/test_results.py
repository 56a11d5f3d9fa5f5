"""Results of a bulk job in words, with a test of the difference of variants."""

from __future__ import annotations

import math
from typing import Any, Final

import pytest

from notifications.features.bulk_jobs.rules import results
from notifications.features.bulk_jobs.rules.left_out import LeftOut
from notifications.features.bulk_jobs.rules.results import Outcome, VariantShare, Verdict

NOTHING: Final = dict.fromkeys(
    ("accepted", "sent", "delivered", "opened", "clicked", "failed", "bounced", "complained"), 0
)


def compared(shares: list[VariantShare], *, verb: str) -> str:
    """Return the comparison with ordinary spaces."""
    return results.variants(shares, verb=verb).replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("one", "other", "probability", "verdict"),
    [
        # Agresti, Categorical Data Analysis: myocardial infarction and aspirin, z = 5.00.
        ((189, 11_034), (104, 11_037), 5.7e-7, Verdict.SIGNIFICANT),
        # prop.test(c(15, 25), c(50, 50), correct = FALSE) of R: X-squared = 4.1667.
        ((15, 50), (25, 50), 0.0412, Verdict.SIGNIFICANT),
        ((20, 50), (25, 50), 0.3149, Verdict.NOT_SIGNIFICANT),
        ((10, 100), (10, 100), 1.0, Verdict.NOT_SIGNIFICANT),
        ((3, 100), (5, 100), 1.0, Verdict.TOO_FEW),
        ((0, 5_000), (0, 5_000), 1.0, Verdict.TOO_FEW),
        ((50, 50), (50, 50), 1.0, Verdict.TOO_FEW),
        ((0, 0), (10, 100), 1.0, Verdict.TOO_FEW),
        ((0, 0), (0, 0), 1.0, Verdict.TOO_FEW),
    ],
)
def test_the_comparison_of_two_shares_has_known_figures(
    one: tuple[int, int], other: tuple[int, int], probability: float, verdict: Verdict
) -> None:
    for first, second in ((one, other), (other, one)):
        found = results.compare(VariantShare("a", *first), VariantShare("b", *second))
        assert found.verdict is verdict
        assert found.probability == pytest.approx(probability, rel=0.02)


def test_a_chance_difference_is_significant_as_often_as_the_level_says() -> None:
    """Sum the exact binomial probabilities of all significant results of two equal shares."""
    size, share = 60, 0.3
    weights = [math.comb(size, k) * share**k * (1 - share) ** (size - k) for k in range(size + 1)]
    wrong = sum(
        first * second
        for one, first in enumerate(weights)
        for other, second in enumerate(weights)
        if results.compare(VariantShare("a", one, size), VariantShare("b", other, size)).verdict
        is Verdict.SIGNIFICANT
    )
    assert 0.03 < wrong < 0.07


def test_the_interval_is_that_of_wilson() -> None:
    # prop.test(10, 100, correct = FALSE) of R.
    assert VariantShare("a", 10, 100).interval == pytest.approx((0.05523, 0.17437), abs=1e-4)
    assert VariantShare("a", 0, 0).interval == (0.0, 1.0)
    low, high = VariantShare("a", 100, 100).interval
    assert 0.9 < low < high == 1.0


def test_recipients_are_counted_in_words() -> None:
    assert results.recipients(
        examined=2_009, accepted=1_950, left_out={"opted_out": 31, "no_contact": 28}, is_over=True
    ) == (
        "Of 2,009 recipients, 1,950 have a message and 59 have none: 31 had opted out, 28 had no"
        " valid contact."
    )
    assert results.recipients(
        examined=2, accepted=1, left_out={"holdout": 1}, is_over=False
    ).endswith(
        "2 recipients examined so far, 1 has a message and 1 has none: 1 was in the holdout."
    )
    one = results.recipients(examined=1, accepted=1, left_out={}, is_over=True)
    assert one == "Of 1 recipient, 1 has a message."
    nobody: dict[str, Any] = {"examined": 0, "accepted": 0, "left_out": {}}
    assert results.recipients(**nobody, is_over=False) == "No recipient is examined yet."
    assert results.recipients(**nobody, is_over=True) == "No recipient was examined."


def test_each_reason_has_words_and_an_unknown_reason_its_name() -> None:
    for reason in (each.value for each in LeftOut):
        said = results.recipients(examined=3, accepted=1, left_out={reason: 2}, is_over=True)
        assert "for the reason" not in said
    said = results.recipients(examined=3, accepted=1, left_out={"moon": 2}, is_over=True)
    assert said.endswith("have none: 2 for the reason moon.")


def test_messages_are_counted_in_words() -> None:
    counts = {"accepted": 1_950, "sent": 1_930, "delivered": 965, "opened": 9}
    whole = Outcome(**{**NOTHING, **counts, "failed": 20, "complained": 1})
    assert list(results.messages(whole)) == [
        "Of 1,950 messages, 1,930 (99.0 %) were sent.",
        "Of the sent messages, 965 (50.0 %) were delivered, 9 (0.5 %) opened and 0 (0 %) clicked.",
        "Of all messages, 20 failed, 1 was reported as spam.",
    ]
    waiting = Outcome(**{**NOTHING, "accepted": 1, "sent": 1})
    assert list(results.messages(waiting)) == [
        "Of 1 message, 1 (100 %) was sent.",
        "No receipt has come yet.",
    ]
    assert list(results.messages(Outcome(**NOTHING))) == []


def test_variants_are_compared_in_words() -> None:
    said = compared([VariantShare("a", 90, 1_000), VariantShare("b", 120, 1_000)], verb="opened")
    assert said == (
        "12.0 % of the sent messages of variant b and 9.0 % of variant a were opened. The"
        " difference is significant (p = 0.029)."
    )
    few = compared([VariantShare("a", 1, 20), VariantShare("b", 3, 20)], verb="clicked")
    assert few.endswith("The messages are too few to tell about the difference.")
    sure = compared([VariantShare("a", 900, 1_000), VariantShare("b", 120, 1_000)], verb="opened")
    assert sure.endswith("The difference is significant (p < 0.001).")


def test_of_three_variants_the_best_two_are_compared_at_a_lower_level() -> None:
    shares = [
        VariantShare("a", 90, 1_000),
        VariantShare("b", 120, 1_000),
        VariantShare("c", 10, 1_000),
    ]
    assert compared(shares, verb="opened") == (
        "12.0 % of the sent messages of variant b, 9.0 % of variant a and 1.0 % of variant c were"
        " opened. The difference between b and a is not significant (p = 0.029)."
    )
