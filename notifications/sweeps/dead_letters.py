"""Dead letters: tell an operator when they grow, and discard what is past retention."""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications.models import DeadLetter
from notifications.pipeline.replay import AGE_KEPT
from notifications.rules.lane import Mode
from notifications.store import alerts
from notifications.store import dead_letters as letters
from notifications.sweeps.rounds import Swept

_WINDOW: Final = dt.timedelta(minutes=5)
_MANY: Final = 20
"""New letters in the window that are worth a person's look.

Single dead addresses are daily life.
"""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Raise or resolve the alert; delete old letters.

    Safe to run at any time: it looks at what is there.
    """
    fresh = DeadLetter.objects.filter(
        created_at__gte=now - _WINDOW, resolved_at=None, mode=Mode.LIVE
    )[: _MANY + 1].count()
    if fresh > _MANY:
        minutes = int(_WINDOW.total_seconds() / 60)
        detail = f"more than {_MANY} deliveries gave up in {minutes} minutes; see dead letters"
        alerts.raise_once("dead_letters_grow", "", detail)
    else:
        alerts.resolve("dead_letters_grow", "")
    return Swept(letters.discard_older_than(AGE_KEPT, limit=limit))
