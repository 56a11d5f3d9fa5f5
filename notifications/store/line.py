"""Lines: who stands where, in the order in which they were accepted.

A line is one ordering key and one channel. A place is drawn under the key's lock in the transaction
that stores the delivery, so places rise in the order of the commits. Nobody here moves a status.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from notifications.rules import order
from notifications.rules.lane import Mode, Priority
from notifications.rules.states import OPEN, Status
from notifications.store import db
from providers.contract import Channel

_STATUSES: Final[Mapping[str, object]] = {
    "open": sorted(OPEN),
    "unknown": Status.UNKNOWN,
    "scheduled": Status.SCHEDULED,
}
_COLUMNS: Final = ("key_id", "channel", "delivery_id")


@dataclass(frozen=True, slots=True)
class Key:
    """An ordering key that is in use."""

    id: int
    priority: Priority
    """That of its first notification: one lane carries a line."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a delivery stands."""

    key_id: int
    channel: Channel
    ahead: int
    """How many go before it, `order.DEPTH` at most."""


def keys(producer_id: int, mode: Mode, wanted: Mapping[str, Priority]) -> dict[str, Key]:
    """The ordering keys of these names; one that is new gets the priority beside it.

    Raises:
        django.db.OperationalError: one is locked for too long.
    """
    whose = {"producer_id": producer_id, "mode": mode}
    found = db.rows("ordering_keys", {**whose, "keys": list(wanted)})
    known = {row["key"] for row in found}
    if missing := {name: priority for name, priority in wanted.items() if name not in known}:
        named = {"keys": list(missing), "priorities": list(missing.values())}
        found += db.alone("register_ordering_keys", {**whose, **named})
    return {row["key"]: Key(row["id"], Priority(row["priority"])) for row in found}


def join(places: Sequence[tuple[int, int, UUID]]) -> None:
    """Put deliveries at the end of their lines, in this order, in the caller's transaction.

    Args:
        places: key id, channel, delivery id.
    """
    db.run("lock_ordering_keys", {"ids": sorted({key_id for key_id, _, _ in places})})
    db.insert(db.Rows("ordered_delivery", _COLUMNS, places))


def places(delivery_ids: Sequence[UUID]) -> dict[UUID, Place]:
    """Where these stand; who lost its place, or never had one, is missing."""
    asked = {"ids": list(delivery_ids), "depth": order.DEPTH, "patience": order.LETS_GO_AFTER}
    return {
        row["delivery_id"]: Place(row["key_id"], Channel(row["channel"]), row["ahead"])
        for row in db.alone("line_places", {**_STATUSES, **asked})
    }


def note(delivery_ids: Iterable[UUID]) -> None:
    """Let those of them that are settled leave their lines."""
    db.alone("line_note", {**_STATUSES, "ids": list(delivery_ids)})


def wake(lines: Iterable[tuple[int, Channel]]) -> list[UUID]:
    """Make the heads of these lines due if only the line held them; returns those."""
    wanted = sorted(lines)
    parameters = {
        "keys": [key_id for key_id, _ in wanted],
        "channels": [channel for _, channel in wanted],
        "scheduled": Status.SCHEDULED,
        "soon": order.look_again(1),
    }
    return [row["id"] for row in db.alone("line_wake", parameters) if row["place"] == 1]


def trim(*, limit: int) -> int:
    """Forget up to `limit` places and keys that nobody needs; returns how many places."""
    past = db.run("line_trim", {"limit": limit, "open": sorted(OPEN)})
    db.run("ordering_keys_trim", {"limit": limit})
    return past
