"""The contacts of a notification, by the recipient's preferences and contacts.

Decided at accept, and again at the release of a scheduled delivery. The gate before each call
checks `preferences.declines` alone, because the delivery has its channel.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from notifications.core.rules import preferences
from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from providers.contract import Channel

DEFAULT_ORDER: Final = (Channel.PUSH, Channel.SMS, Channel.EMAIL)
"""For a recipient without an order (and a producer that names no channel)."""
_NO_TOPICS: Final = frozenset[str]()
INBOX_KIND: Final = "inbox"
"""Kind of the address of a recipient's inbox; the address is the user id."""


def inbox_of(recipient_id: int) -> int:
    """Return the contact id of deliveries to a recipient's inbox: the negative recipient id.

    Each recipient has an inbox, so a message on the channel in_app needs no contact. A delivery
    without a contact id is another thing: its schedule is not released.
    """
    return -recipient_id


class Spread(StrEnum):
    """The API's `delivery` field."""

    FIRST = "first"
    """The first channel that the recipient allows and can be reached on."""
    ALL = "all"
    """Each of the channels."""


class RecipientContacts(NamedTuple):
    """A recipient's current contacts and preferences."""

    recipient_id: int
    user_id: str = ""
    timezone: str = ""
    """Empty if unknown."""
    contacts: Mapping[Channel, Sequence[int]] = MappingProxyType({})
    """Valid contacts by channel, the primary one first, without suppressed ones."""
    suppressed: frozenset[Channel] = frozenset()
    """Channels that have valid contacts on the suppression list."""
    channel_order: Sequence[Channel] = ()
    channels_off: frozenset[Channel] = frozenset()
    categories_off: frozenset[str] = frozenset()
    topics_off: Mapping[Channel, frozenset[str]] = MappingProxyType({})
    """Categories and types that are off on one channel."""
    locale: str = ""
    """Empty if unknown."""
    number: str = ""
    """The number of the first contact for SMS; empty without one."""


class Target(NamedTuple):
    """A delivery to create: a contact on a channel, or the reason for the missing contact.

    The contact of an inbox is `inbox_of(recipient_id)`.
    """

    channel: Channel
    contact_id: int | None
    stop: Reason | None = None


def targets(
    reach: RecipientContacts,
    *,
    wanted: Sequence[Channel],
    spread: Spread,
    topics: Collection[str],
    priority: Priority,
) -> list[Target]:
    """Resolve the channels of one notification as `resolve` does; never empty."""
    return resolve(reach, wanted=wanted, spread=spread, topics=topics, priority=priority).targets


class Resolved(NamedTuple):
    """The targets of a notification, and the skipped channels."""

    targets: list[Target]
    skipped: list[tuple[Channel, Reason | None]]
    """With `first`: each channel asked for or tried, and why it cannot be used; None: an
    earlier channel is used."""


def resolve(
    reach: RecipientContacts,
    *,
    wanted: Sequence[Channel],
    spread: Spread,
    topics: Collection[str],
    priority: Priority,
) -> Resolved:
    """Resolve the channels of a notification; there is at least one target.

    Args:
        reach: the recipient's preferences and contacts.
        wanted: the producer's channels in order; empty: the recipient's order.
        spread: first working channel, or all channels.
        topics: category and type of the notification; none of a mandatory type.
        priority: an opt-out from a topic does not stop P0; a disabled channel does.
    """
    order = dict.fromkeys(wanted or reach.channel_order or DEFAULT_ORDER)
    tried = [_on_channel(reach, channel, topics=topics, priority=priority) for channel in order]
    if len(tried) == 1:  # nothing to choose
        return Resolved(tried[0], [])
    if spread is Spread.ALL:
        return Resolved([target for found in tried for target in found], [])
    place = next((number for number, found in enumerate(tried) if found[0].stop is None), 0)
    is_reached = tried[place][0].stop is None
    # Of the recipient's own order those behind the chosen one were neither asked for nor tried.
    told = tried[:place] if is_reached and not wanted else tried
    skipped = [
        (found[0].channel, found[0].stop) for number, found in enumerate(told) if number != place
    ]
    return Resolved(tried[place], skipped)


def contacts_on(reach: RecipientContacts, channel: Channel) -> Sequence[int]:
    """Return the contacts for a channel; on in_app, without a contact, the recipient's inbox."""
    found = reach.contacts.get(channel, ())
    if not found and channel is Channel.IN_APP and channel not in reach.suppressed:
        return (inbox_of(reach.recipient_id),)
    return found


def _on_channel(
    reach: RecipientContacts, channel: Channel, *, topics: Collection[str], priority: Priority
) -> list[Target]:
    off_on_channel = reach.topics_off.get(channel, _NO_TOPICS)
    if channel in reach.channels_off or preferences.declines(
        reach.categories_off, off_on_channel, topics=topics, priority=priority
    ):
        return [Target(channel, None, Reason.OPTED_OUT)]
    contacts = contacts_on(reach, channel)
    if not contacts:
        stop = Reason.SUPPRESSION_LIST if channel in reach.suppressed else Reason.NO_CONTACT
        return [Target(channel, None, stop)]
    if channel is Channel.PUSH:  # every device; elsewhere a second mailbox is a second message
        return [Target(channel, contact) for contact in contacts]
    return [Target(channel, contacts[0])]
