"""Obstacles for a P2 to a contact: allow-list, frequency cap, provider and switch.

The checks read the same settings, routes, counts and breakers as the delivery steps, and change
nothing. A paused endpoint of one address and a full rate limit of a provider are left out, because
both last for seconds.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Final

from notifications.core import clock, conf
from notifications.core.delivery import routing
from notifications.core.models import Contact, Preference, Recipient
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.rate_limits import frequency_caps as cap_rules
from notifications.core.rules.rate_limits.frequency_caps import Cap
from notifications.core.rules.switches import MessageSource
from notifications.core.store.cached import switches
from notifications.core.store.rate_limits import breaker_status, frequency_caps
from notifications.core.store.rate_limits.frequency_caps import Window
from notifications.core.store.redis import state
from providers.contract import Channel

_NO_SOURCE: Final = MessageSource(0, "", None)
"""A message of no producer, type and template: only switches of channels and lanes hold it."""


def obstacles(person: Recipient, contacts: Sequence[Contact], wishes: Preference) -> dict[int, str]:
    """Return the first obstacle by contact id; a contact without an obstacle is left out."""
    found = dict(_full_caps(person, contacts, wishes)) if person.mode == Mode.LIVE else {}
    now = clock.now()
    for contact in contacts:
        if text := _not_allowed(person, contact) or _on_hold(person, contact, now=now):
            found[contact.pk] = text
    return found


def _not_allowed(person: Recipient, contact: Contact) -> str:
    allowed = conf.current().allowed
    if allowed is None or person.mode == Mode.TEST:
        return ""
    passes = allowed.allows(user_id=person.user_id, address=contact.address)
    return "" if passes else "is not sent: NOTIFY_ALLOWED_RECIPIENTS leaves the recipient out"


def _on_hold(person: Recipient, contact: Contact, *, now: dt.datetime) -> str:
    """Return a sentence if a switch, or every provider of the route, holds the contact now."""
    lane = Lane(Mode(person.mode), Priority.P2, Channel(contact.channel))
    names = routing.providers_for(
        lane.channel, lane.mode, kind=contact.kind, address=contact.address
    )
    if not names:
        return "waits: no configured provider serves this contact"
    board = switches.current()
    if switch := board.of_message(_NO_SOURCE, lane, now=now):
        return f"waits: {switch.detail}"
    if lane.mode is Mode.TEST:
        return ""
    standings = breaker_status.of_pairs((name, lane.channel) for name in names)
    causes: list[str] = []
    for (name, _), standing in standings.items():
        if provider_switch := board.of_provider(name, lane, now=now):
            causes.append(f"{name} ({provider_switch.detail})")
        elif standing.is_open:
            causes.append(f"{name} ({standing.why})")
        else:
            return ""
    return f"waits: calls are paused at {', '.join(causes)}"


def _full_caps(
    person: Recipient, contacts: Sequence[Contact], wishes: Preference
) -> Iterator[tuple[int, str]]:
    own = cap_rules.parse_all(wishes.caps)
    asked: dict[Channel, Cap] = {}
    for contact in contacts:
        channel = Channel(contact.channel)
        cap = cap_rules.cap_for(Priority.P2, channel, own=own, usual=conf.current().caps)
        if cap is not None:
            asked[channel] = cap
    windows = [(Window(person.pk, channel), cap) for channel, cap in asked.items()]
    try:
        counts = dict(zip(asked, frequency_caps.counted(windows), strict=True))
    except state.Away:
        return
    for contact in contacts:
        channel = Channel(contact.channel)
        if channel in asked and counts[channel] >= asked[channel].limit:
            yield contact.pk, f"waits: the frequency cap of {asked[channel]} is full"
