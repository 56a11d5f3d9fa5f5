"""Caps: how many notifications a person gets on a channel in any hour or day, and who is stopped.

    P0   never asked for, never counted: the person asked for the code
    P1   counted, never stopped
    P2   waits for the moment at which the window has room again
    P3   is dropped

The window slides: at any moment those of the last hour (or day) count, so there is no midnight at
which twice as many may leave. What counts is the notification: three devices of a person are one.

A cap is written `3/day` everywhere: in the environment, in admin, in the API and in the database.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Self

from notifications.rules.lane import Priority
from providers.contract import Channel

PATTERN: Final = r"^[1-9][0-9]{0,5}/(hour|day)$"
"""How a cap is written; a million a day is none."""
_SPANS: Final = MappingProxyType({"hour": dt.timedelta(hours=1), "day": dt.timedelta(days=1)})
_WORDS: Final = {span: word for word, span in _SPANS.items()}


@dataclass(frozen=True, slots=True)
class Cap:
    """At most `limit` notifications in any `window`."""

    limit: int
    window: dt.timedelta

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `3/day`.

        Raises:
            ValueError: it is written in another way.
        """
        if not re.fullmatch(PATTERN, text):
            msg = f"{text!r} is no cap: write it like 3/day or 10/hour"
            raise ValueError(msg)
        limit, _, word = text.partition("/")
        return cls(int(limit), _SPANS[word])

    def __str__(self) -> str:
        return f"{self.limit}/{_WORDS[self.window]}"


Caps = Mapping[Channel, Cap]
"""What a channel that is not in it has: no cap."""

DEFAULTS: Final[Caps] = MappingProxyType({
    Channel.PUSH: Cap.parse("10/hour"),
    Channel.SMS: Cap.parse("3/day"),
    Channel.EMAIL: Cap.parse("20/day"),
})


class Over(StrEnum):
    """What becomes of a notification that finds its window full."""

    LEAVES = "leaves"
    """It counts all the same."""
    WAITS = "waits"
    """Until the window has room."""
    DROPPED = "dropped"
    """For good."""


OVER: Final = MappingProxyType({
    Priority.P0: Over.LEAVES,
    Priority.P1: Over.LEAVES,
    Priority.P2: Over.WAITS,
    Priority.P3: Over.DROPPED,
})
"""What becomes of one of a priority."""


def is_counted(priority: Priority) -> bool:
    """Whether one of this priority fills a window."""
    return priority is not Priority.P0


def cap_for(priority: Priority, channel: Channel, *, own: Caps, usual: Caps) -> Cap | None:
    """The cap that a delivery counts against: the person's own, else the usual one; None: none."""
    if not is_counted(priority):
        return None
    return own.get(channel) or usual.get(channel)


def parsed(written: Mapping[str, str]) -> dict[Channel, Cap]:
    """Caps by a channel's label, as they are stored and handed in.

    Raises:
        KeyError: a label that is no channel.
        ValueError: a cap that is none.
    """
    return {Channel.from_label(label): Cap.parse(text) for label, text in written.items()}
