"""Resume: when a breaker closes, the P0 and P1 that it held come due, a bounded number in each run.

While a provider rests only a bounded number of them look again (`rules.breaker`); the others wait
for minutes or hours, up to their time to live. The process that sees a breaker close notes it in
the state Redis. If Redis loses the note, the rows come due by themselves, later.
"""

from __future__ import annotations

import datetime as dt

from notifications.rules.breaker import HealthKey
from notifications.rules.lane import Mode, Priority
from notifications.rules.reasons import Reason
from notifications.rules.states import Status
from notifications.store import breakers, db, spans, standings, state
from notifications.store.spans import Span
from notifications.sweeps.rounds import Swept, retry_grace
from providers.contract import Channel


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Release up to `limit` rows of each priority, day and closed breaker.

    Safe to run twice or late: a row is released once, and looks for itself whether it may leave.
    """
    del now
    try:
        closed = state.members(breakers.CLOSED)
        return Swept(sum(_resume(name, limit=limit) for name in sorted(closed)))
    except state.Away:
        return Swept()


def _resume(name: str, *, limit: int) -> int:
    provider, channel = breakers.pair_of(name)
    [standing] = standings.of([HealthKey(provider, channel)]).values()
    moved = 0
    if not standing.is_open:
        moved = sum(_released(channel, span, limit=limit) for span in spans.current())
    if moved < limit:
        state.remove(breakers.CLOSED, name)
    return moved


def _released(channel: Channel, span: Span, *, limit: int) -> int:
    parameters = {
        **span,
        "priorities": [each for each in Priority if each.is_urgent],
        "channel": channel,
        "scheduled": Status.SCHEDULED,
        "live": Mode.LIVE,
        "reason": Reason.BREAKER,
        "grace": retry_grace(),
        "limit": limit,
    }
    return len(db.alone("resume", parameters))
