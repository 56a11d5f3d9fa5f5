"""Chance that depends on a seed and on what it decides, never on when it is asked.

Processes run at their own speed, so a stream of random numbers would give each run other decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, TypeVar

T = TypeVar("T")

_BYTES: Final = 8
_RANGE: Final = float(1 << 8 * _BYTES)


def chance(*about: object) -> float:
    """A number from [0, 1), the same for the same words."""
    digest = blake2b(repr(about).encode(), digest_size=_BYTES).digest()
    return int.from_bytes(digest) / _RANGE


def between(low: float, high: float, *about: object) -> float:
    """A number from [low, high)."""
    return low + (high - low) * chance(*about)


def pick(choices: Sequence[tuple[T, float]], *about: object) -> T:
    """One of these, each with its weight."""
    drawn = chance(*about) * sum(weight for _, weight in choices)
    for choice, weight in choices:
        drawn -= weight
        if drawn < 0:
            return choice
    return choices[-1][0]


def shuffled(items: Sequence[T], *about: object) -> list[T]:
    """The items in an order of chance."""
    numbered = sorted(enumerate(items), key=lambda pair: chance(*about, pair[0]))
    return [item for _, item in numbered]
