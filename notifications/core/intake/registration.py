"""Registration: find or register the recipients of requests with addresses instead of a user id.

Registration runs in the transaction that accepts the requests. If a recipient has all the
addresses, the recipient is used; otherwise a recipient with exactly the addresses is registered. No
existing recipient's contacts change: two sets of addresses belong to two recipients, unless a
registered recipient has all of them.

A refused request registers no recipient. A user id of a merged recipient stands for the recipient
that stays.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from notifications.core.intake.validation import AddressedRecipient, Caller, IntakeRequest
from notifications.core.models import Contact, Recipient
from notifications.core.rules.problems import Problem
from notifications.core.rules.recipient import PREFIX, To
from notifications.core.rules.request import NotificationRequest
from notifications.core.store.postgres import (
    audit,
    db,
    idempotency,
    merged_recipients,
    recipients_by_address,
)

_REGISTER: Final = "register_recipient"
"""Action in the audit log."""


@dataclass(slots=True)
class Registrations:
    """Requests with their recipients, and the new recipients."""

    asks: list[IntakeRequest | Problem]
    created: dict[str, int] = field(default_factory=dict)
    """Recipient ids by user id."""
    by: str = ""
    """Name of the API key, for the audit log."""


def is_needed(asks: Sequence[IntakeRequest | Problem]) -> bool:
    """Return True if a request of the list has addresses, or a user id made of addresses."""
    return any(isinstance(ask, IntakeRequest) and is_by_address(ask.request) for ask in asks)


def is_by_address(request: NotificationRequest) -> bool:
    """Return True for a request with addresses, or with a user id made of addresses."""
    return request.to is not None or (request.user_id or "").startswith(PREFIX)


def register(asks: Sequence[IntakeRequest | Problem]) -> Registrations:
    """Find or register the recipients of a list; all requests have the same caller.

    Repeats, and requests of a caller without the permission, stay unchanged.
    """
    merged_recipients.hold()
    repeats = _repeats(asks)
    wanted: list[tuple[int, Caller, To]] = [
        (number, ask.caller, ask.request.to)
        for number, ask in enumerate(asks)
        if isinstance(ask, IntakeRequest)
        and ask.request.to is not None
        and ask.caller.may_register
        and number not in repeats
    ]
    registrations = Registrations(_with_survivors(asks))
    if not wanted:
        return registrations
    caller = wanted[0][1]
    registrations.by = caller.by
    everyone = {to for _, _, to in wanted}
    people = recipients_by_address.ensure(caller.mode, everyone, by=caller.by)
    for number, _, to in wanted:
        ask, person = registrations.asks[number], people[to]
        if isinstance(ask, IntakeRequest):
            recipient = AddressedRecipient(person.user_id, is_new=person.is_new)
            registrations.asks[number] = ask._replace(recipient=recipient)
        if person.is_new:
            registrations.created[person.user_id] = person.id
    return registrations


def _with_survivors(asks: Sequence[IntakeRequest | Problem]) -> list[IntakeRequest | Problem]:
    """Name the recipient that stays in requests with the user id of a merged recipient."""
    named = {
        number: (ask.caller.mode, ask.request.user_id)
        for number, ask in enumerate(asks)
        if isinstance(ask, IntakeRequest) and (ask.request.user_id or "").startswith(PREFIX)
    }
    found = list(asks)
    for mode in {mode for mode, _ in named.values()}:
        stand_for = merged_recipients.survivors(mode, {name for _, name in named.values() if name})
        for number, (of, name) in named.items():
            ask = found[number]
            if of is mode and name in stand_for and isinstance(ask, IntakeRequest):
                stays = AddressedRecipient(stand_for[name], is_new=False)
                found[number] = ask._replace(recipient=stays)
    return found


def remove_unused(registered: Registrations, *, except_for: Collection[str]) -> None:
    """Remove new recipients of refused requests.

    Recipients in `except_for` stay; they and their contacts are entered in the audit log.
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


def _repeats(asks: Sequence[IntakeRequest | Problem]) -> set[int]:
    """Return the positions of requests with a used idempotency key."""
    keys = {
        number: idempotency.IdempotencyKey(ask.caller.producer_id, ask.caller.mode, name)
        for number, ask in enumerate(asks)
        if isinstance(ask, IntakeRequest) and (name := ask.request.idempotency_key)
    }
    if not keys:
        return set()
    [answered] = db.fetch_all([idempotency.first_answers(set(keys.values()))])
    known = {each.key for each in answered}
    return {number for number, key in keys.items() if key in known}
