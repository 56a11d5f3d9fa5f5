"""Which contacts a notification goes to: the recipient's wishes and what they can be reached on.

Asked at accept, and again when a scheduled delivery is released, because both can change in
between. The gate before each call asks `declines` alone: there a delivery has its channel.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from notifications.rules.lane import Priority
from notifications.rules.reasons import Reason
from providers.contract import Channel

DEFAULT_ORDER: Final = (Channel.PUSH, Channel.SMS, Channel.EMAIL)
"""The order for a recipient who has chosen none (and a producer that names no channel)."""


class Spread(StrEnum):
    """The API's `delivery` field."""

    FIRST = "first"
    """The first channel that the recipient allows and can be reached on."""
    ALL = "all"
    """Each of the channels."""


class Reach(NamedTuple):
    """How one recipient can be reached now."""

    recipient_id: int
    user_id: str = ""
    timezone: str = ""
    """Empty when nobody knows."""
    contacts: Mapping[Channel, Sequence[int]] = MappingProxyType({})
    """Valid contacts by channel, the primary one first; none that is on the suppression list."""
    suppressed: frozenset[Channel] = frozenset()
    """Channels that have valid contacts on the suppression list."""
    channel_order: Sequence[Channel] = ()
    channels_off: frozenset[Channel] = frozenset()
    categories_off: frozenset[str] = frozenset()
    locale: str = ""
    """As the recipient has it; empty when nobody knows."""


class Target(NamedTuple):
    """One delivery to be: a contact on a channel, or the reason why there is none."""

    channel: Channel
    contact_id: int | None
    stop: Reason | None = None


def declines(
    categories_off: AbstractSet[str], *, topics: Collection[str], priority: Priority
) -> bool:
    """Whether somebody wants nothing of the kind, whatever the channel. P0 is not asked about.

    Args:
        categories_off: what they have unsubscribed from: categories, or types by their name.
        topics: the message's own category and type.
        priority: the message's.
    """
    return priority is not Priority.P0 and not categories_off.isdisjoint(topics)


def targets(
    reach: Reach,
    *,
    wanted: Sequence[Channel],
    spread: Spread,
    topics: Collection[str],
    priority: Priority,
) -> list[Target]:
    """Resolve the channels of one notification; never empty.

    Args:
        reach: the recipient's wishes and contacts.
        wanted: the producer's channels in order; empty takes the recipient's own order.
        spread: first channel that works, or all.
        topics: what the recipient can unsubscribe from: its category (`marketing`) and its type.
        priority: no topic that is off stops P0. A channel that is off always does.
    """
    order = dict.fromkeys(wanted or reach.channel_order or DEFAULT_ORDER)
    declined = declines(reach.categories_off, topics=topics, priority=priority)
    resolved = [_on_channel(reach, channel, declined=declined) for channel in order]
    if spread is Spread.ALL:
        return [target for found in resolved for target in found]
    return next((found for found in resolved if found[0].stop is None), resolved[0][:1])


def _on_channel(reach: Reach, channel: Channel, *, declined: bool) -> list[Target]:
    if declined or channel in reach.channels_off:
        return [Target(channel, None, Reason.OPTED_OUT)]
    contacts = reach.contacts.get(channel, ())
    if not contacts:
        stop = Reason.SUPPRESSION_LIST if channel in reach.suppressed else Reason.NO_CONTACT
        return [Target(channel, None, stop)]
    # Every device gets a push; elsewhere a second mailbox would be a second message.
    chosen = contacts if channel is Channel.PUSH else contacts[:1]
    return [Target(channel, contact) for contact in chosen]
