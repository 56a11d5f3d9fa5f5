"""How many examples a property test draws: in `make test` fewer than in `make test-all`."""

from __future__ import annotations

from typing import Final

from hypothesis import settings

_WHOLE: Final = 100
"""Examples of a test without a number of its own, as Hypothesis has it."""
BRIEF: Final = 30
"""The same in `make test`."""


def at_most(count: int) -> int:
    """Return `count`, and in `make test` the same part of it that other tests draw there."""
    return max(1, count * min(_WHOLE, settings().max_examples) // _WHOLE)
