"""Order: when one of a line looks again whether its turn has come, and when one loses its place.

Who leaves wakes the next, so looking again is only for when that word was lost: soon for the one
whose turn is next, rarely for those far behind.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

LETS_GO_AFTER: Final = dt.timedelta(seconds=60)
"""A head that is held for longer loses its place: one quiet night must not stop all that follow."""
DEPTH: Final = 100
"""Places that are counted; whoever stands further behind is told this one."""
_A_PLACE: Final = dt.timedelta(seconds=2)
_LONGEST: Final = dt.timedelta(seconds=120)


def look_again(ahead: int) -> dt.timedelta:
    """How long one with `ahead` others before it waits until it asks again by itself."""
    return min(_A_PLACE * ahead, _LONGEST)
