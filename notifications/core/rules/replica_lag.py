"""The age of answers from the read replica, and the time for which an operator reads the primary.

A change of an operator would be missing on the next page for as long as the replica is behind.
Therefore each answer of the admin to a form sets a cookie, and with the cookie pages read the
primary.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

MOST_LAG: Final = dt.timedelta(seconds=10)
"""Age of the newest replayed commit above which the replica is left. Roll-ups are seconds old
themselves."""
FRESH: Final = dt.timedelta(seconds=1)
"""Time for which a comparison with the primary holds: an answer is at most `MOST_LAG` + `FRESH`
old."""
COOKIE: Final = "wrote"
COOKIE_AGE: Final = MOST_LAG + FRESH + dt.timedelta(seconds=4)
"""Each replica that is used has the change then; the rest is the way to the browser."""
