"""Digest times: the delivery times of topics with a digest, by the recipient's choice.

    at_once   each message leaves by itself
    daily     the messages of a day leave together at 09:00 of the recipient's clock
    weekly    the messages of a week leave together on Monday at 09:00 of the recipient's clock

The time depends on the choice, the timezone and the time of the message alone, so every check of a
message gives the same answer, and a message past the digest time leaves.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from notifications.core.rules.lane import Priority
from notifications.core.rules.times import local_time
from providers.contract import Channel


class DigestChoice(StrEnum):
    """The recipient's choice for a topic."""

    AT_ONCE = "at_once"
    DAILY = "daily"
    WEEKLY = "weekly"


Digests = Mapping[str, DigestChoice]
"""Topic -> choice; a topic is a category or a notification type."""

DIGEST_CHANNEL: Final = Channel.EMAIL
"""The channel with digests by choice; other channels leave at once."""
DIGEST_PRIORITIES: Final = frozenset({Priority.P2, Priority.P3})
LEAVES: Final = dt.time(9)
"""Wall clock time of a digest."""
_MONDAY: Final = 0
_DAY: Final = dt.timedelta(days=1)
_SLACK: Final = dt.timedelta(seconds=1)


def read(stored: Mapping[str, str]) -> dict[str, DigestChoice]:
    """Return stored choices without unknown choices of another release."""
    known = set(DigestChoice)
    return {topic: DigestChoice(value) for topic, value in stored.items() if value in known}


def choice_of(digests: Digests, *, type_: str, category: str) -> DigestChoice:
    """Return the choice for a type; by default the choice for the category."""
    return digests.get(type_) or digests.get(category) or DigestChoice.AT_ONCE


def leaves_at(choice: DigestChoice, *, timezone: str, after: dt.datetime) -> dt.datetime:
    """Return the instant at which a message leaves.

    Args:
        choice: of the recipient for the topic.
        timezone: IANA name; UTC counts for an empty name.
        after: creation of the message, or the later send time that the producer asked for.
    """
    if choice is DigestChoice.AT_ONCE:
        return after
    zone = local_time.zone(timezone)
    wall = local_time.next_time(LEAVES, zone=zone, after=after)
    while choice is DigestChoice.WEEKLY and wall.weekday() != _MONDAY:
        wall += _DAY
    return local_time.first(wall, zone=zone)


def has_usual_life(begins: dt.datetime, expires_at: dt.datetime, *, usual: dt.timedelta) -> bool:
    """Return True if the time to live is the default of the priority, not the producer's value.

    Such a message may wait for its digest longer than its time to live.
    """
    return abs(expires_at - begins - usual) < _SLACK
