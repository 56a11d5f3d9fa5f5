"""Caps: how many notifications a recipient gets on a channel in any hour or day.

    P0   not counted: the recipient asked for the code
    P1   counted, never stopped
    P2   waits until the window has room again
    P3   is dropped

The window slides, so there is no midnight at which twice as many may leave. A notification counts
once for all devices. A cap is written `3/day` in the environment, admin, API and database.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Self

from notifications.core.rules.lane import Priority
from providers.contract import Channel

PATTERN: Final = r"^[1-9][0-9]{0,5}/(hour|day)$"
"""Notation of a cap, up to six digits."""
_SPANS: Final = MappingProxyType({"hour": dt.timedelta(hours=1), "day": dt.timedelta(days=1)})
_WORDS: Final = {span: word for word, span in _SPANS.items()}


@dataclass(frozen=True, slots=True)
class Cap:
    """At most `limit` notifications in any `window`."""

    limit: int
    window: dt.timedelta

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a cap such as `3/day`.

        Raises:
            ValueError: the text has another form.
        """
        if not re.fullmatch(PATTERN, text):
            msg = f"{text!r} is an invalid cap; use a form such as 3/day or 10/hour"
            raise ValueError(msg)
        limit, _, word = text.partition("/")
        return cls(int(limit), _SPANS[word])

    def __str__(self) -> str:
        return f"{self.limit}/{_WORDS[self.window]}"


Caps = Mapping[Channel, Cap]
"""A missing channel has no cap."""

DEFAULTS: Final[Caps] = MappingProxyType({
    Channel.PUSH: Cap.parse("10/hour"),
    Channel.SMS: Cap.parse("3/day"),
    Channel.EMAIL: Cap.parse("20/day"),
})


class Over(StrEnum):
    """Handling of a notification in a full window."""

    LEAVES = "leaves"
    """It counts and leaves."""
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
"""By priority."""


def is_counted(priority: Priority) -> bool:
    """Return True if notifications of the priority count against a cap."""
    return priority is not Priority.P0


def cap_for(priority: Priority, channel: Channel, *, own: Caps, usual: Caps) -> Cap | None:
    """Return the recipient's cap, else the default cap; None: no cap."""
    if not is_counted(priority):
        return None
    return own.get(channel) or usual.get(channel)


def parse_all(written: Mapping[str, str]) -> dict[Channel, Cap]:
    """Parse caps by channel label, as they are stored and handed in.

    Raises:
        KeyError: an unknown channel.
        ValueError: not a cap.
    """
    return {Channel.from_label(label): Cap.parse(text) for label, text in written.items()}
