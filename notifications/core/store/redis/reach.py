"""The newest reach (`rules.reach`), for `/metrics` and Overview.

The sweep `service_levels` writes the figure each minute, so that a scrape and an open page cost no
count. After a loss of the state Redis the next run writes the figure again.
"""

from __future__ import annotations

import datetime as dt
from typing import Final, cast

import orjson

from notifications.core.rules.lane import Priority
from notifications.core.rules.reach import RESULTS, Reach, ReachCounts
from notifications.core.store.redis import state

_KEY: Final = "reach"
_KEPT: Final = dt.timedelta(minutes=10)
"""Runs of the sweep may fail for some minutes; an older figure is missing rather than wrong."""


def write(reach: Reach) -> None:
    """Store the figure.

    Raises:
        state.Away: the state Redis does not answer.
    """
    value = orjson.dumps({
        "of": {str(int(each)): _plain(counts) for each, counts in reach.of.items()},
        "recent": _plain(reach.recent),
        "percent": reach.percent,
    })
    with state.connection() as redis:
        redis.set(_KEY, value, ex=_KEPT)


def load() -> Reach | None:
    """Return the newest figure; None without a run of the sweep within ten minutes.

    Raises:
        state.Away: as `write`.
    """
    with state.connection() as redis:
        value = cast("bytes | None", redis.get(_KEY))
    if value is None:
        return None
    found = orjson.loads(value)
    return Reach(
        of={Priority(int(each)): _counts(counts) for each, counts in found["of"].items()},
        recent=_counts(found["recent"]),
        percent=found["percent"],
    )


def _plain(counts: ReachCounts) -> dict[str, int]:
    return {result.value: count for result, count in counts.items()}


def _counts(stored: dict[str, int]) -> ReachCounts:
    return ReachCounts({RESULTS[result]: count for result, count in stored.items()})
