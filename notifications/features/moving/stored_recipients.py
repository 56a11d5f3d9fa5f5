"""The stored state of the recipients of a part of an import, and the changes of earlier imports.

A part is read with six queries at most, for any number of recipients.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from notifications.core.models import (
    AuditEntry,
    Contact,
    Preference,
    Recipient,
    Topic,
    TopicSubscriber,
)
from notifications.core.rules import addresses, preferences
from notifications.core.rules.lane import Mode
from notifications.core.rules.preferences import Cell
from notifications.core.rules.recipient import To
from notifications.core.store.postgres import contacts_by_address, device_owners
from notifications.core.store.postgres import preferences as stored_preferences
from notifications.features.moving.export import RecipientItem
from providers.contract import Channel

OPERATION: Final = "import_recipients"
"""The operation in the audit log."""
TOPICS: Final = "topics"
"""Field of an audit entry: topics to which an import subscribed the recipient."""


@dataclass(slots=True)
class StoredRecipients:
    """The stored state of the recipients of a part, by user id or by id."""

    rows: dict[str, Recipient] = field(default_factory=dict)
    contacts: defaultdict[int, set[tuple[int, str]]] = field(
        default_factory=lambda: defaultdict(set)
    )
    """Recipient id -> channel and key of each contact, valid or not."""
    off: dict[int, preferences.Cells] = field(default_factory=dict)
    topics: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    devices: dict[str, str] = field(default_factory=dict)
    """Key of a push address -> user id of the recipient with the valid contact."""
    past_off: defaultdict[int, set[Cell]] = field(default_factory=lambda: defaultdict(set))
    """Cells that were off after an earlier import."""
    past_topics: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Topics to which an earlier import subscribed the recipient."""


def read(people: Mapping[str, RecipientItem], *, mode: Mode) -> StoredRecipients:
    """Return the stored state of the recipients with the user ids of `people`."""
    stored = StoredRecipients()
    rows = Recipient.objects.filter(mode=mode, user_id__in=people)
    stored.rows = {row.user_id: row for row in rows}
    ids = [row.pk for row in stored.rows.values()]
    columns = ("recipient_id", "channel", "address")
    for owner, channel, address in Contact.objects.filter(recipient__in=ids).values_list(*columns):
        stored.contacts[owner].add((channel, addresses.key(Channel(channel), address)))
    for row in Preference.objects.filter(recipient__in=ids):
        stored.off[row.recipient_id] = stored_preferences.off(row)
    _read_topics(stored, people, ids, mode=mode)
    keys = {addresses.key(Channel.PUSH, each) for each in _devices(people)}
    held = contacts_by_address.of_keys(keys).filter(
        channel=Channel.PUSH, recipient__mode=mode, invalidated_at=None
    )
    for user_id, address in held.values_list("recipient__user_id", "address") if keys else ():
        stored.devices[addresses.key(Channel.PUSH, address)] = user_id
    if any(item.off or item.topics for item in people.values()):
        _read_past(stored, ids)
    return stored


def lock(user_ids: Mapping[str, RecipientItem], *, mode: Mode) -> None:
    """Lock recipients in the order of user ids, then all of their devices and the new ones."""
    rows = Recipient.objects.filter(mode=mode, user_id__in=user_ids)
    ids = [row.pk for row in rows.order_by("user_id").select_for_update()]
    known = Contact.objects.filter(recipient__in=ids, channel=Channel.PUSH, invalidated_at=None)
    mine = known.values_list("address", flat=True)
    device_owners.lock_addresses(mode, [*mine, *_devices(user_ids)])


def holders(items: Sequence[RecipientItem], *, mode: Mode) -> dict[To, Collection[str]]:
    """Return the user ids of all recipients with the valid contacts of each opt-out by address."""
    wanted = {item.to for item in items if item.to is not None and item.off}
    if not wanted:
        return {}
    rows = (
        contacts_by_address
        .of_keys({key for to in wanted for _, key in to.keys})
        .filter(recipient__mode=mode, invalidated_at=None)
        .values_list("recipient__user_id", "channel", "address")
    )
    held: defaultdict[tuple[int, str], set[str]] = defaultdict(set)
    for user_id, channel, address in rows:
        held[channel, addresses.key(channel, address)].add(user_id)
    return {to: sorted(set.intersection(*(held[key] for key in to.keys))) for to in wanted}


def _devices(people: Mapping[str, RecipientItem]) -> list[str]:
    return [
        each.address
        for item in people.values()
        for each in item.addresses
        if each.channel is Channel.PUSH
    ]


def _read_topics(
    stored: StoredRecipients,
    people: Mapping[str, RecipientItem],
    ids: Collection[int],
    *,
    mode: Mode,
) -> None:
    wanted = {topic for item in people.values() for topic in item.topics}
    if not wanted:
        return
    known = Topic.objects.filter(mode=mode, name__in=wanted, deleted_at=None)
    names = dict(known.values_list("pk", "name"))
    subscribed = TopicSubscriber.objects.filter(topic_id__in=names, recipient_id__in=ids)
    for topic_id, owner in subscribed.values_list("topic_id", "recipient_id"):
        stored.topics[owner].add(names[topic_id])


def _read_past(stored: StoredRecipients, ids: Collection[int]) -> None:
    """Read the changes of earlier imports from the audit log; served by `audit_of_object`."""
    entries = AuditEntry.objects.filter(
        object_type__in=[Recipient._meta.model_name, Preference._meta.model_name],  # noqa: SLF001 - Django's public name
        object_id__in=[str(each) for each in ids],
        operation=OPERATION,
    ).order_by()
    for object_id, after in entries.values_list("object_id", "after"):
        owner = int(object_id)
        stored.past_topics[owner].update(after.get(TOPICS, ()))
        stored.past_off[owner] |= preferences.read(
            after.get("channels_off", ()),
            after.get("categories_off", ()),
            after.get("topics_off", {}),
        )
