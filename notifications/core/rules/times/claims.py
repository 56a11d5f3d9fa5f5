"""The claims of a timeline.

A claim stores no event: the event that ends the claim has its time (`Event.claimed_at`). A reader
of a timeline adds a line `sending` for each claim, in the place that the line had as an event.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar
from uuid import UUID

from notifications.core.rules.states import Status

Line = TypeVar("Line")


class Told(NamedTuple):
    """The part of an event that places a claim."""

    delivery_id: UUID | str | None
    status: int | None
    at: dt.datetime
    claimed_at: dt.datetime | None


def with_claims(
    events: Sequence[Line], told: Callable[[Line], Told], claim: Callable[[Told, Line], Line]
) -> Iterator[Line]:
    """Yield the events of a notification, in their order, with a line for each claim.

    Args:
        events: the events in the order of their numbers.
        told: returns the facts of an event.
        claim: makes the line of a claim from its facts and the event that follows the line.
    """
    facts = [told(each) for each in events]
    ended = [(each.claimed_at, index) for index, each in enumerate(facts) if each.claimed_at]
    claims: dict[int, list[Line]] = {}
    for claimed_at, index in sorted(ended):
        place = _place(facts, index, claimed_at)
        fact = Told(facts[index].delivery_id, Status.SENDING, claimed_at, None)
        claims.setdefault(place, []).append(claim(fact, events[place]))
    for index, event in enumerate(events):
        yield from claims.get(index, ())
        yield event


def _place(facts: Sequence[Told], index: int, claimed_at: dt.datetime) -> int:
    """Return the index of the first event since the claim, after the delivery's last status."""
    delivery, place = facts[index].delivery_id, index
    while place > 0:
        before = facts[place - 1]
        is_last_status = before.delivery_id == delivery and before.status is not None
        if is_last_status or before.at < claimed_at:
            break
        place -= 1
    return place
