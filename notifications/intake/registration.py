"""Registration: the recipients of requests that give addresses instead of a user id.

Runs in the transaction that accepts the requests. A recipient who has the addresses is found; else
one with exactly these addresses is registered. Nobody's contacts are changed: two sets of addresses
are two recipients, unless one registered recipient has them all.

Promise: a recipient who was registered has a notification, or the registration is undone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from notifications.intake.validation import Ask, Caller, Found
from notifications.models import Contact, Recipient
from notifications.rules.problems import Problem
from notifications.rules.recipient import To
from notifications.store.postgres import audit, db, idempotency, recipients_by_address

_REGISTER: Final = "register_recipient"
"""What the audit log calls it."""


@dataclass(slots=True)
class Registered:
    """The requests with their recipients, and those recipients that are new."""

    asks: list[Ask | Problem]
    created: dict[str, int] = field(default_factory=dict)
    """Recipient ids by user id."""
    by: str = ""
    """Who registers them."""


def is_needed(asks: Sequence[Ask | Problem]) -> bool:
    """Tell whether a request of the list gives addresses."""
    return any(isinstance(ask, Ask) and ask.wanted.to is not None for ask in asks)


def register(asks: Sequence[Ask | Problem]) -> Registered:
    """Find or register the recipients; one caller makes them all.

    A request that is a repeat, or whose caller may not register, stays as it is.
    """
    repeats = _repeats(asks)
    wanted: list[tuple[int, Caller, To]] = [
        (number, ask.caller, ask.wanted.to)
        for number, ask in enumerate(asks)
        if isinstance(ask, Ask)
        and ask.wanted.to is not None
        and ask.caller.may_register
        and number not in repeats
    ]
    told = Registered(list(asks))
    if not wanted:
        return told
    caller = wanted[0][1]
    told.by = caller.by
    everyone = {to for _, _, to in wanted}
    people = recipients_by_address.ensure(caller.mode, everyone, by=caller.by)
    for number, _, to in wanted:
        ask, person = asks[number], people[to]
        if isinstance(ask, Ask):
            found = Found(person.user_id, is_new=person.is_new)
            told.asks[number] = ask._replace(found=found)
        if person.is_new:
            told.created[person.user_id] = person.id
    return told


def conclude(registered: Registered, *, except_for: Collection[str]) -> None:
    """Remove those who were registered in vain: their requests were refused.

    Those of `except_for` stay; they and their contacts enter the audit log.
    """
    vain = [id_ for user_id, id_ in registered.created.items() if user_id not in except_for]
    recipients_by_address.remove(vain)
    kept = [id_ for user_id, id_ in registered.created.items() if user_id in except_for]
    if kept:
        made = [
            *Recipient.objects.filter(pk__in=kept).order_by("pk"),
            *Contact.objects.filter(recipient__in=kept).order_by("pk"),
        ]
        audit.record_made({(registered.by, _REGISTER): made})


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
