"""Unreachable: open deliveries without a next step, by the invariant of `unreachable.sql`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Final, NamedTuple
from uuid import UUID

from notifications.core.rules.lane import PACE
from notifications.core.rules.states import OPEN, Status
from notifications.core.rules.suspects import POISON_AFTER
from notifications.core.rules.unanswered import CLOSE_AFTER
from notifications.core.store.postgres import db, id_ranges

MOST: Final = 1_000
"""Upper bound of the number of returned deliveries."""
_EXAMINED: Final = 200
_WITH_DUE_TIME: Final = OPEN | {Status.SENT, Status.UNKNOWN}
_HOUR: Final = dt.timedelta(hours=1)
_PARAMETERS: Final[Mapping[str, object]] = {
    **id_ranges.LANE_COLUMNS,
    "open": sorted(_WITH_DUE_TIME),
    "final": sorted(set(Status) - _WITH_DUE_TIME),
    "waiting": sorted(OPEN - {Status.SENDING}),
    "accepted": [Status.SENT, Status.UNKNOWN],
    "queued": Status.QUEUED,
    "sending": Status.SENDING,
    "poison": POISON_AFTER,
    "publishes": 20,  # the count of publish.sql ends there
    "lease": 2 * max(pace.lease for pace in PACE.values()),
    "republish": 6 * _HOUR,  # publish.sql: at most 300 s * 2^6
    "receipt": CLOSE_AFTER + _HOUR,
    "slack": _HOUR,
    "examined": _EXAMINED,
    "most": MOST,
}


class Unreachable(NamedTuple):
    """A delivery against the invariant."""

    id: UUID
    fault: str
    """The fault by the comment of `unreachable.sql`."""


def find() -> list[Unreachable]:
    """Return up to MOST deliveries against the invariant."""
    found: list[Unreachable] = []
    for span in id_ranges.current():
        found += db.fetch_as("unreachable", {**_PARAMETERS, **span}, Unreachable)
        if len(found) >= MOST:
            break
    return found[:MOST]
