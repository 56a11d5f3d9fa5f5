"""Status webhooks: make messages of the change feed, and call the endpoints.

`run_once` makes messages, of new changes before those of replays. `tell` calls endpoints, in a
queue of its own. Both are safe to run twice and late: rows wait.
"""

from __future__ import annotations

import datetime as dt

from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept
from notifications.core.webhooks import calls, fan_out


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Make messages until no event is left, or the time is over. A page is `SCANNED` events."""
    del now, limit  # positions, not times, order the feed; a page has a limit of its own
    return loops.repeat(_make_page)


def _make_page() -> Swept:
    made = fan_out.work_off() or fan_out.replay_next()
    return Swept(int(made), more=bool(made))


def tell(*, now: dt.datetime, limit: int) -> Swept:
    """Call endpoints with due messages."""
    del now, limit  # Postgres's clock says what is due; `calls.IN_FLIGHT` limits the calls
    return Swept(calls.work_off())
