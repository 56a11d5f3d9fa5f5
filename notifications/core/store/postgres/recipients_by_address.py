"""Recipients named by address: looked up, or registered if unknown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import NamedTuple

from notifications.core import clock, conf
from notifications.core.models import Contact, Recipient
from notifications.core.rules import addresses, phone
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient import PREFIX, To
from notifications.core.store.postgres import contacts_by_address, db, merged_recipients
from providers.contract import Channel

_Held = defaultdict[tuple[int, str], set[tuple[int, str]]]
"""(recipient id, user id) -> the (channel, key) pairs of the recipient's contacts."""


class RecipientByAddress(NamedTuple):
    """A recipient found by address or newly registered."""

    id: int
    user_id: str
    is_new: bool


def ensure(mode: Mode, wanted: Collection[To], *, by: str) -> dict[To, RecipientByAddress]:
    """Find or register a recipient for each set of addresses, in the open transaction.

    A match is a recipient with every address, in any spelling, as valid primary contact of the
    channel; among several matches the earliest registered recipient wins. Without a match, the
    earliest recipient registered by address with ended contacts at the addresses counts: opt-outs
    outlive a dead address.

    Args:
        mode: mode of all recipients.
        wanted: sets of addresses.
        by: actor recorded at new contacts.
    """
    people = _find_recipients(mode, wanted)
    fresh = {to: to.user_id(key=conf.current().hash_key) for to in wanted if to not in people}
    if not fresh:
        return people
    names = {user_id: to for to, user_id in fresh.items()}
    created: set[str] = set()
    ids: dict[str, int] = {}
    while missing := names.keys() - ids.keys():  # a row of another call may be erased meanwhile
        created |= _register(mode, {name: names[name] for name in missing}, by=by)
        rows = Recipient.objects.filter(mode=mode, user_id__in=missing)
        ids |= rows.values_list("user_id", "pk")
    return people | {
        to: RecipientByAddress(ids[user_id], user_id, user_id in created)
        for to, user_id in fresh.items()
    }


def remove(recipient_ids: Collection[int]) -> None:
    """Remove recipients registered by this transaction."""
    if recipient_ids:
        Recipient.objects.filter(pk__in=recipient_ids).delete()


def _find_recipients(mode: Mode, wanted: Collection[To]) -> dict[To, RecipientByAddress]:
    """Served by `contact_by_key`."""
    keys = {address_key for to in wanted for _, address_key in to.keys}
    rows = (
        contacts_by_address
        .of_keys(keys)
        .filter(recipient__mode=mode)
        .exclude(invalid_reason__startswith=merged_recipients.REASON)
        .values_list(
            *("recipient_id", "recipient__user_id", "channel", "address"),
            *("is_primary", "invalidated_at"),
        )
    )
    reachable, ended = _Held(set), _Held(set)
    for recipient_id, user_id, channel, address, is_primary, invalidated_at in rows:
        has = channel, addresses.key(channel, address)
        if is_primary and invalidated_at is None:
            reachable[recipient_id, user_id].add(has)
        if user_id.startswith(PREFIX):
            ended[recipient_id, user_id].add(has)
    found = {}
    for to in wanted:
        who = _earliest(reachable, to) or _earliest(ended, to)
        if who is not None:
            found[to] = RecipientByAddress(*who, is_new=False)
    return found


def _earliest(held: _Held, to: To) -> tuple[int, str] | None:
    return min((person for person, has in held.items() if to.keys <= has), default=None)


def _register(mode: Mode, wanted: Mapping[str, To], *, by: str) -> set[str]:
    """Register unknown recipients with their contacts; return the new user ids."""
    names = sorted(wanted)  # two transactions that register the same people never deadlock
    rows = db.rows(
        "register_recipients",
        {
            "mode": mode,
            "user_ids": names,
            "locales": [wanted[name].locale or "en" for name in names],
            "timezones": [wanted[name].timezone or "" for name in names],
            "phone_timezones": [_zone_of(wanted[name]) for name in names],
            "now": clock.now(),
        },
    )
    Contact.objects.bulk_create(
        Contact(
            recipient_id=row["id"],
            channel=channel,
            address=address,
            is_primary=True,
            created_by=by,
        )
        for row in rows
        for channel, address in wanted[row["user_id"]].addresses.items()
    )
    return {row["user_id"] for row in rows}


def _zone_of(to: To) -> str:
    number = to.addresses.get(Channel.SMS)
    return phone.zone_of(number) if number else ""
