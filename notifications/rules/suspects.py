"""Suspects: rows whose workers died several times, and how a search for the fatal one goes on.

A claim counts when its worker died: every other end (settled, held, put back after an exception)
leaves or resets the count. One row of a message of five hundred can be what kills the worker, and
the other rows of that message are innocent. So the messages shrink with the number of deaths:

    claims  0, 1, 2    up to 500 rows a message
            3          up to 25
            4          alone
            5          a dead letter, `poison`

Twenty messages of 25 hold the 500 rows: nineteen of them are delivered, and the rows of the one
whose worker dies go alone.
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
    """Rows that may share a message with one that was claimed so often in vain."""
    if claims >= ALONE_AFTER:
        return 1
    return SMALL if claims >= SMALL_AFTER else _ANY
