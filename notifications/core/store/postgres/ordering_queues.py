"""Ordering keys and the places of their deliveries, in the order of acceptance.

A place is drawn under the key's lock in the transaction that stores the delivery, so places rise in
the order of commits. This module moves no status. A key with places has `look_at`, when the sweep
repairs lost wake-ups.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models.functions import Now

from notifications.core.models import Delivery, OrderedDelivery, OrderingKey
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.ordering import DEPTH, Advance, Front
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db
from providers.contract import Channel

Queue = tuple[int, int]
"""An ordering key's id and a channel."""

LOOK_EVERY: Final = dt.timedelta(seconds=5)
"""Interval of the sweep that repairs lost wake-ups."""
_COLUMNS: Final = ("key_id", "channel", "delivery_id")


@dataclass(frozen=True, slots=True)
class OrderingKeyRow:
    """An ordering key in use."""

    id: int
    priority: Priority
    """Priority of the key's first notification; all deliveries of the key use the same lane."""


def keys(producer_id: int, mode: Mode, wanted: Mapping[str, Priority]) -> dict[str, OrderingKeyRow]:
    """Return the ordering keys of names; a new key gets the given priority.

    Raises:
        django.db.OperationalError: the wait for a lock was too long.
    """
    named = {"keys": list(wanted), "priorities": list(wanted.values())}
    found = db.fetch_in_own_transaction(
        "ordering_keys", {"producer_id": producer_id, "mode": mode, **named}
    )
    return {row["key"]: OrderingKeyRow(row["id"], Priority(row["priority"])) for row in found}


def join(places: Sequence[tuple[int, int, UUID]]) -> None:
    """Append deliveries (key id, channel, delivery id) to their keys, in an open transaction."""
    key_ids = sorted({key_id for key_id, _, _ in places})
    locked = db.rows("ordering_lock", {"ids": key_ids})
    if fresh := [row["id"] for row in locked if not row["is_watched"]]:
        OrderingKey.objects.filter(id__in=fresh).update(look_at=Now() + LOOK_EVERY)
    db.insert(db.Rows("ordered_delivery", _COLUMNS, places))


def queues_of(delivery_ids: Sequence[UUID]) -> dict[UUID, Queue]:
    """Return the queues of deliveries; a delivery without a place is missing."""
    found = OrderedDelivery.objects.filter(delivery_id__in=list(delivery_ids))
    return {
        delivery_id: (key_id, channel)
        for delivery_id, key_id, channel in found.values_list("delivery_id", "key_id", "channel")
    }


def advance(queues: Iterable[Queue]) -> tuple[set[UUID], list[UUID]]:
    """Remove finished deliveries from the ordering queues, and release heads that held for order.

    Returns:
        The heads, and the released heads, which are due now.
    """
    heads: set[UUID] = set()
    woken: list[UUID] = []
    left = sorted(set(queues))
    while left:
        decided, left = _decide(left)
        heads.update(decided.heads)
        woken += _written(decided)
    return heads, woken


def _decide(queues: Sequence[Queue]) -> tuple[Advance, list[Queue]]:
    """Decide about the first positions; also return the queues for a second pass."""
    parameters = {
        "keys": [key_id for key_id, _ in queues],
        "channels": [channel for _, channel in queues],
        "depth": DEPTH,
    }
    rows = db.rows("ordering_fronts", parameters)
    stands = {
        delivery_id: (Status(status), reason, due_at)
        for delivery_id, status, reason, due_at in Delivery.objects.filter(
            id__in=[row["delivery_id"] for row in rows]
        ).values_list("id", "status", "reason", "due_at")
    }
    fronts: dict[Queue, list[Front]] = defaultdict(list)
    for row in rows:
        stand = stands.get(row["delivery_id"], (None,))
        fronts[row["key_id"], row["channel"]].append(
            Front(row["id"], row["delivery_id"], row["held_since"], *stand)
        )
    decided = Advance()
    more = [
        queue
        for queue, first in fronts.items()
        if not decided.add(first, now=rows[0]["now"]) and len(first) == DEPTH
    ]
    return decided, more


def _written(decided: Advance) -> list[UUID]:
    if not decided.changes:
        return []
    parameters = {
        "gone": decided.gone,
        "let_go": decided.let_go,
        "held": decided.held,
        "unheld": decided.unheld,
        "heads": decided.waking,
        "scheduled": Status.SCHEDULED,
        "ordering": Reason.ORDERING,
    }
    return [row["id"] for row in db.fetch_in_own_transaction("ordering_advance", parameters)]


def advance_due(*, limit: int) -> tuple[int, int]:
    """Look at up to `limit` due keys, in the caller's transaction.

    Returns:
        The number of keys, and of woken deliveries.
    """
    found = db.rows("ordering_due", {"every": LOOK_EVERY, "limit": limit})
    key_ids = [row["id"] for row in found]
    if not key_ids:
        return 0, 0
    _, woken = advance((key_id, channel) for key_id in key_ids for channel in Channel)
    db.run("ordering_forget", {"ids": key_ids})
    return len(key_ids), len(woken)


def trim(*, limit: int) -> int:
    """Delete up to `limit` unused keys; returns how many."""
    return db.run("ordering_trim", {"limit": limit})
