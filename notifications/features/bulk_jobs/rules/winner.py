"""Winner of an A/B test: the variant with the best share of a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

ENOUGH_SENT: Final = 30
"""Least sent messages of each variant for a comparison."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a variant in the sample."""

    name: str
    sent: int
    count: int
    """Messages with the metric: delivered, read or clicked."""

    @property
    def share(self) -> float:
        """Return the part of the sent messages, from 0 to 1."""
        return min(1.0, self.count / self.sent) if self.sent else 0.0


class Winner(NamedTuple):
    """The choice, with a sentence for operators."""

    name: str
    reason: str


def choose(results: Sequence[Result], *, metric: str) -> Winner:
    """Return the winner. A tie, or too little data, gives the first variant.

    Args:
        results: in the order of the variants of the job, at least one.
        metric: name for the sentence.
    """
    first = results[0]
    said = "; ".join(f"{each.name}: {each.share:.1%} of {each.sent} {metric}" for each in results)
    if any(each.sent < ENOUGH_SENT for each in results):
        why = f"each variant needs {ENOUGH_SENT} sent messages"
        return Winner(first.name, f"The first variant {first.name} is sent: {why} ({said}).")
    best = max(each.share for each in results)
    leaders = [each for each in results if each.share == best]
    if len(leaders) > 1:
        return Winner(first.name, f"The first variant {first.name} is sent: a tie ({said}).")
    return Winner(leaders[0].name, f"Variant {leaders[0].name} won ({said}).")
