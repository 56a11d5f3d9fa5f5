"""Merge of recipients registered by spellings of one address.

The remaining recipient gets the opt-outs, topics and lists of all. A merged recipient keeps the
past notifications; the contacts end with the reason `merged into to_...`, by which an old user id,
an unsubscribe link and an erasure find the remaining recipient. A recipient with an id of a
producer is never merged: two ids are two people, possibly with a common mailbox.

A merge waits for transactions with writes for a recipient registered by address, and such a
transaction waits for a merge (`hold`, `staying`): an opt-out, a message or an erasure would
otherwise stay at a merged recipient.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from django.db import transaction

from notifications.core import clock
from notifications.core.models import Contact, Preference, Recipient
from notifications.core.rules import addresses
from notifications.core.rules import preferences as preference_rules
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient import PREFIX
from notifications.core.store.postgres import audit, contacts_by_address, db, locks, preferences
from providers.contract import Channel

REASON: Final = "merged into "
"""Begin of a merged contact's reason; the user id of the recipient that stays follows."""
_OPERATION: Final = "merge_recipients"
_LOCK: Final = "merge of recipients"
_CHANNELS: Final = (Channel.SMS, Channel.EMAIL)
Keys = frozenset[tuple[int, str]]


class Findings(NamedTuple):
    """Groups and pairs of a page of recipients."""

    groups: list[list[int]]
    """Recipients to merge: each group has the same addresses, the earliest recipient first."""
    apart: list[tuple[int, int]]
    """Recipients that share an address in two spellings and stay apart."""
    last: int | None
    """The last recipient of the page; None: no recipient is left."""


def survivors(mode: Mode, user_ids: Collection[str]) -> dict[str, str]:
    """Return merged user id -> user id of the recipient that stays; other ids are left out."""
    merged = Contact.objects.filter(
        recipient__mode=mode, recipient__user_id__in=user_ids, invalid_reason__startswith=REASON
    )
    pairs = merged.values_list("recipient__user_id", "invalid_reason")
    return {user_id: reason.removeprefix(REASON) for user_id, reason in pairs}


def survivor_of(recipient: Recipient) -> Recipient:
    """Return the recipient into which a recipient was merged, else the recipient itself."""
    if not recipient.user_id.startswith(PREFIX):
        return recipient
    mode = Mode(recipient.mode)
    stays = survivors(mode, [recipient.user_id]).get(recipient.user_id)
    found = Recipient.objects.filter(mode=mode, user_id=stays).first() if stays else None
    return found or recipient


def hold() -> None:
    """Let merges wait until the open transaction ends; waits for a merge.

    Called before locks of recipients, as in a merge.
    """
    locks.share_for_transaction(_LOCK)


def hold_alone() -> None:
    """Let merges and holders wait until the open transaction ends; waits for both."""
    locks.wait_for_transaction([_LOCK])


def staying(recipient: Recipient) -> Recipient:
    """Return the recipient that stays, which no merge changes until the open transaction ends."""
    if not recipient.user_id.startswith(PREFIX):
        return recipient
    hold()
    return survivor_of(recipient)


def sources_of(recipient: Recipient) -> list[Recipient]:
    """Return the recipients that were merged into a recipient; served by `contact_by_key`."""
    held = recipient.contacts.filter(channel__in=_CHANNELS).values_list("channel", "address")
    same = contacts_by_address.of_keys([addresses.key(*each) for each in held])
    reason = REASON + recipient.user_id
    there = same.filter(recipient__mode=recipient.mode, invalid_reason=reason)
    return list(Recipient.objects.filter(pk__in=there.values("recipient")).order_by("pk"))


def find(*, after: int, limit: int) -> Findings:
    """Return the next recipients by number, and all recipients at the same addresses."""
    page = list(
        Recipient.objects.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:limit]
    )
    if not page:
        return Findings([], [], None)
    theirs = Contact.objects.filter(recipient__in=page, channel__in=_CHANNELS)
    keys = {addresses.key(*each) for each in theirs.values_list("channel", "address")}
    sharing = contacts_by_address.of_keys(keys).filter(channel__in=_CHANNELS)
    people = _addresses_of(sharing.values_list("recipient_id", flat=True).distinct())
    groups = [each for each in _groups(people) if each[0] in set(page)]
    together = {frozenset(each) for each in groups}
    apart = [
        pair
        for pair in _pairs(people)
        if pair[0] in set(page) and not any(set(pair) <= group for group in together)
    ]
    return Findings(groups, apart, page[-1])


def merge(group: Sequence[int], *, by: str) -> int | None:
    """Merge a group of `find`; returns the number of merged recipients, None: a delivery is open.

    Safe to run twice: a group with later changes stays as found.
    """
    with transaction.atomic():
        hold_alone()
        locked = list(Recipient.objects.select_for_update().filter(pk__in=group).order_by("pk"))
        if [sorted(group)] != _groups(_addresses_of([each.pk for each in locked])):
            return 0
        stays = min(locked, key=lambda each: (not _has_valid_contacts(each), each.pk))
        merged = [each for each in locked if each.pk != stays.pk]
        if any(_has_open_delivery(each) for each in merged):
            return None
        _unite_preferences(stays, merged)
        for each in merged:
            db.rows("merge_audiences", {"merged": each.pk, "stays": stays.pk})
            _end(each, stays, by=by)
    return len(merged)


class _Person(NamedTuple):
    mode: int
    user_id: str
    spellings: frozenset[tuple[int, str]]
    keys: Keys


def _addresses_of(recipients: Collection[int]) -> dict[int, _Person]:
    """Return recipients with their addresses, without the addresses of merged contacts."""
    held: dict[int, set[tuple[int, str]]] = defaultdict(set)
    names: dict[int, tuple[int, str]] = {}
    rows = Contact.objects.filter(recipient__in=recipients, channel__in=_CHANNELS)
    for pk, mode, user_id, channel, address in rows.exclude(
        invalid_reason__startswith=REASON
    ).values_list("recipient_id", "recipient__mode", "recipient__user_id", "channel", "address"):
        names[pk] = mode, user_id
        held[pk].add((channel, address))
    return {
        pk: _Person(
            *names[pk],
            frozenset(spelled),
            frozenset((channel, addresses.key(channel, each)) for channel, each in spelled),
        )
        for pk, spelled in held.items()
    }


def _groups(people: dict[int, _Person]) -> list[list[int]]:
    same: dict[tuple[int, Keys], list[int]] = defaultdict(list)
    for pk in sorted(people):
        if people[pk].user_id.startswith(PREFIX):
            same[people[pk].mode, people[pk].keys].append(pk)
    return [each for each in same.values() if len(each) > 1]


def _pairs(people: dict[int, _Person]) -> list[tuple[int, int]]:
    """Return the pairs of a mode with one key in two spellings."""
    holders: dict[tuple[int, int, str], list[int]] = defaultdict(list)
    for pk in sorted(people):
        for channel, each in people[pk].keys:
            holders[people[pk].mode, channel, each].append(pk)
    pairs = {
        (one, other)
        for key, pks in holders.items()
        for place, one in enumerate(pks)
        for other in pks[place + 1 :]
        if _spellings(people[one], key) != _spellings(people[other], key)
    }
    return sorted(pairs)


def _spellings(person: _Person, key: tuple[int, int, str]) -> set[str]:
    _, channel, text = key
    return {
        each for at, each in person.spellings if at == channel and addresses.key(at, each) == text
    }


def _has_valid_contacts(recipient: Recipient) -> bool:
    return (
        not recipient.contacts.filter(channel__in=_CHANNELS).exclude(invalidated_at=None).exists()
    )


def _has_open_delivery(recipient: Recipient) -> bool:
    [row] = db.rows("recipient_has_open", {"recipient": recipient.pk})
    return bool(row["has_open"])


def _unite_preferences(stays: Recipient, merged: Sequence[Recipient]) -> None:
    """Switch off for the remaining recipient every cell switched off by a merged recipient."""
    theirs = Preference.objects.filter(recipient__in=[stays, *merged]).order_by("pk")
    wishes = list(theirs.select_for_update())
    if not wishes:
        return
    known = {each.pk: each for each in wishes}
    row = known.get(stays.pk) or Preference.objects.create(recipient=stays)
    off = frozenset[preference_rules.Cell]().union(*map(preferences.off, wishes))
    left = frozenset[preference_rules.Cell]().union(*map(preferences.cells_off, wishes))
    row.channels_off, row.categories_off, row.topics_off = preference_rules.write(off)
    row.channels_left, row.categories_left, row.topics_left = preference_rules.write(left)
    until = [each.do_not_disturb_until for each in wishes if each.do_not_disturb_until]
    row.do_not_disturb_until = max(until, default=None)
    for each in wishes:
        row.quiet_hours = row.quiet_hours or each.quiet_hours
        row.caps = each.caps | row.caps
    row.save()


def _end(merged: Recipient, stays: Recipient, *, by: str) -> None:
    """End the contacts of a recipient, and of the recipients merged earlier."""
    both = [merged.pk, *(each.pk for each in sources_of(merged))]
    rows = Contact.objects.filter(recipient__in=both, channel__in=_CHANNELS).order_by("pk")
    with audit.changes(by, _OPERATION, rows):
        now = clock.now()
        rows.update(
            invalidated_at=now,
            invalid_reason=REASON + stays.user_id,
            is_primary=False,
            changed_at=now,
            changed_by=by,
        )
