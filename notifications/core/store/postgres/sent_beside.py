"""The spans in which a provider accepted deliveries, with the number of all accepted then.

    minute with at least BUSY accepted deliveries    a span of its own
    the other minutes of an hour                     a span together: with little traffic, most
                                                     minutes have the asked delivery alone

The roll-ups count the accepted deliveries of a provider by the minute of `sent_at` and keep these
counts for three days, so no counter of its own is needed. A span that no roll-up counts has the
given deliveries alone.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from typing import Final, NamedTuple
from uuid import UUID

from notifications.core.rules.lane import Mode
from notifications.core.rules.rollups import Cube, DimensionSet, Step
from notifications.core.store.postgres import db, id_ranges

BUSY: Final = 20
"""Accepted deliveries of a minute that are enough for a comparison (`REFUSAL_SAMPLE`)."""


class SentSpan(NamedTuple):
    """Some of the deliveries that a provider accepted in a span."""

    name: str
    """The span: minutes since 1970 of its begin, and `m` for a minute or `h` for an hour."""
    deliveries: tuple[UUID, ...]
    """Those of the question."""
    sent: int
    """Number of all live deliveries that the provider accepted in the span."""


def older_than(age: dt.timedelta, deliveries: Collection[UUID], *, provider: str) -> list[SentSpan]:
    """Return the spans of the live deliveries that the provider accepted longer than `age` ago.

    Younger deliveries, those of other providers and those without an accepted call are left out.
    """
    cube = Cube(Step.MINUTE, DimensionSet.ROUTE)
    parameters = {
        **id_ranges.around(deliveries),
        "ids": list(deliveries),
        "age": age,
        "provider": provider,
        "mode": int(Mode.LIVE),
        "cube": cube.number,
        "dimension_set": int(cube.dimension_set),
        "busy": BUSY,
    }
    return [
        SentSpan(_name_of(row["begin"], is_minute=row["is_busy"]), tuple(row["ids"]), row["sent"])
        for row in db.rows("sent_beside", parameters)
    ]


def _name_of(begin: dt.datetime, *, is_minute: bool) -> str:
    return f"{int(begin.timestamp()) // 60}{'m' if is_minute else 'h'}"
