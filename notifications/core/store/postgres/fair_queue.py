"""Fair queue: in a lane of P2 or P3, a producer's backlog does not delay other producers.

Start-time fair queueing. Workers claim the rows of a lane by `due_at`, which is the place in the
queue. Each lane has a virtual time V: the last claimed place while more rows were due, or the
present without such rows. A producer's row gets the place

    max(V, the producer's last place in this lane) + 1 microsecond

so a million rows of one producer take one second of places, and the first row of another producer
comes next, at V.

V and the last places stand in the state Redis. Without Redis each row is due at once. Rows back
from a hold, a retry or a dead worker get a new place in the same way.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast
from uuid import UUID

from notifications.core.models import Notification
from notifications.core.rules.ids import notification_of
from notifications.core.rules.lane import Lane, Priority
from notifications.core.store.postgres import db
from notifications.core.store.redis import state

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_FORGET: Final = "-"


class Ask(NamedTuple):
    """One row to queue."""

    lane: Lane
    producer_id: int


def places(asks: Sequence[Ask], *, now: dt.datetime) -> list[dt.datetime]:
    """Return the `due_at` of P2 and P3 rows, in order; `now` is Postgres's clock."""
    if not asks:
        return []
    runs = [(ask, len(list(equal))) for ask, equal in itertools.groupby(asks)]
    counts: dict[Ask, int] = {}
    for ask, count in runs:
        counts[ask] = counts.get(ask, 0) + count
    arguments: list[str | int | float | bytes] = [_microseconds(now)]
    for ask, count in counts.items():
        arguments += ["", ask.producer_id, count]
    try:
        found = state.call("fair_queue", [_key(ask.lane) for ask in counts], arguments)
    except state.Away:
        return [now] * len(asks)
    last = dict(zip(counts, cast("list[int]", found), strict=True))
    due: list[dt.datetime] = []
    for ask, count in runs:
        free = last[ask] + 1
        due += [_EPOCH + place * _MICROSECOND for place in range(free, free + count)]
        last[ask] += count
    return due


def due_in(rows: Sequence[Mapping[str, Any]]) -> dict[UUID, dt.timedelta]:
    """Return how soon returning rows of P2 and P3 are due, as `intervals`.

    `rows` have `id`, `mode`, `priority` and `channel`; all of one span of days.
    """
    patient = [row for row in rows if not Priority(row["priority"]).is_urgent]
    if not patient:
        return {}
    of = {row["id"]: notification_of(row["id"]) for row in patient}
    found = Notification.objects.filter(id__in=set(of.values()))
    producers = dict(found.values_list("id", "producer_id"))
    return intervals({
        row["id"]: Ask(
            Lane.of(row["mode"], row["priority"], row["channel"]),
            producers[of[row["id"]]],
        )
        for row in patient
        if of[row["id"]] in producers
    })


def intervals(asks: Mapping[UUID, Ask]) -> dict[UUID, dt.timedelta]:
    """Return the time until each row of P2 and P3 is due, by the row's place in the queue.

    The intervals begin at now() of the open transaction, because SQL adds the intervals to now().
    From a later instant, each place would be early by the age of the transaction.
    """
    if not asks:
        return {}
    [row] = db.rows("transaction_now", {})
    now: dt.datetime = row["now"]
    given = places(list(asks.values()), now=now)
    return {delivery_id: place - now for delivery_id, place in zip(asks, given, strict=True)}


def note_taken(lane: Lane, *, last: dt.datetime | None) -> None:
    """Note the last claimed place of a P2 or P3 lane; None: no rows were left over."""
    v = _FORGET if last is None else str(_microseconds(last))
    try:
        state.call("fair_queue", [_key(lane)], [0, v, "", 0])
    except state.Away:
        return  # as the module says


def _key(lane: Lane) -> str:
    return f"fair:{lane.name}"


def _microseconds(instant: dt.datetime) -> int:
    return (instant - _EPOCH) // _MICROSECOND
