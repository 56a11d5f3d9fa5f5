"""Registration: the recipients of requests that give addresses instead of a user id.

Runs in the transaction that accepts the requests. A recipient who has the addresses is found; else
one with exactly these addresses is registered. Nobody's contacts are changed: two sets of addresses
are two recipients, unless one registered recipient has them all.

Promise: a recipient who was registered has a notification, or the registration is undone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from notifications.pipeline.check import Ask, Found
from notifications.rules.lane import Mode
from notifications.rules.problems import Problem
from notifications.rules.recipient import To
from notifications.store import db, idempotency, recipients_by_address


@dataclass(frozen=True, slots=True)
class Registered:
    """The requests with their recipients, and those recipients that are new."""

    asks: list[Ask | Problem]
    created: dict[str, int] = field(default_factory=dict)
    """Recipient ids by user id."""


def is_needed(asks: Sequence[Ask | Problem]) -> bool:
    """Tell whether a request of the list gives addresses."""
    return any(isinstance(ask, Ask) and ask.wanted.to is not None for ask in asks)


def register(asks: Sequence[Ask | Problem]) -> Registered:
    """Find or register the recipients; the requests' callers have one mode.

    A request that is a repeat, or whose caller may not register, stays as it is.
    """
    repeats = _repeats(asks)
    wanted: list[tuple[int, Mode, To]] = [
        (number, ask.caller.mode, ask.wanted.to)
        for number, ask in enumerate(asks)
        if isinstance(ask, Ask)
        and ask.wanted.to is not None
        and ask.caller.may_register
        and number not in repeats
    ]
    told = Registered(list(asks))
    if not wanted:
        return told
    people = recipients_by_address.ensure(wanted[0][1], {to for _, _, to in wanted})
    for number, _, to in wanted:
        ask, person = asks[number], people[to]
        if isinstance(ask, Ask):
            found = Found(person.user_id, is_new=person.is_new)
            told.asks[number] = ask._replace(found=found)
        if person.is_new:
            told.created[person.user_id] = person.id
    return told


def undo(registered: Registered, *, except_for: Collection[str]) -> None:
    """Remove those who were registered in vain: their requests were refused."""
    vain = [id_ for user_id, id_ in registered.created.items() if user_id not in except_for]
    recipients_by_address.remove(vain)


def _repeats(asks: Sequence[Ask | Problem]) -> set[int]:
    """The positions of requests whose idempotency key is in use."""
    keys = {
        number: idempotency.Key(ask.caller.producer_id, ask.caller.mode, name)
        for number, ask in enumerate(asks)
        if isinstance(ask, Ask) and (name := ask.wanted.idempotency_key)
    }
    if not keys:
        return set()
    [answered] = db.made_together([idempotency.first_answers(set(keys.values()))])
    known = {each.key for each in answered}
    return {number for number, key in keys.items() if key in known}
