"""Suspects: rows whose workers died several times, and the isolation of a fatal row.

A claim counts if the worker died; every other end keeps or resets the count. In a message with 500
rows a single row can kill the worker, so the messages shrink with the number of deaths:

    claims  0, 1, 2    up to 500 rows per message
            3          up to 25
            4          a single row
            5          a dead letter, `poison`
"""

from __future__ import annotations

from typing import Final

SMALL_AFTER: Final = 3
"""Deaths after which a row shares its message with few others."""
SMALL: Final = 25
"""Rows of such a message: about the root of 500, so that both steps of the search cost the same."""
ALONE_AFTER: Final = 4
"""Deaths after which a row goes alone."""
POISON_AFTER: Final = 5
"""Deaths after which a row is a dead letter."""
_ANY: Final = 500


def most_together(claims: int) -> int:
    """Return how many rows may share a message with a row of so many failed claims."""
    if claims >= ALONE_AFTER:
        return 1
    return SMALL if claims >= SMALL_AFTER else _ANY
