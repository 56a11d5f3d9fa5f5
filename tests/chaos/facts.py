"""What a run has seen: posts, calls at the stand-ins, faults, and the database at the end.

All instants are Unix seconds of this machine's clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from notifyproj.devstack.demo import environment
from providers.contract import Channel


def now() -> float:
    """This machine's clock."""
    return environment.now().timestamp()


SILENCE: Final = frozenset({"hang", "cut"})
"""Answers of a `Call` that are none: the provider took the message, and told nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A notification that the API answered with 202, or knew already from an earlier try."""

    token: str
    """In its text, and nowhere else."""
    notification_id: str
    priority: Priority
    channel: Channel
    at: float
    """When the answer came."""
    has_chain: bool = False
    """True with a fallback chain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call that a stand-in has read to its end."""

    channel: Channel
    token: str
    at: float
    took: bool
    """Whether the person gets it; decided and logged before any answer."""
    answer: str
    """`ok`, `unavailable`, `throttled`, `hang` (no answer at all), or `cut` (the connection ends
    without an answer)."""
    port: int = 0
    """The caller's end of the connection."""
    key: str = ""
    """By which a device or receiver recognises a repeat; empty where none does."""
    message_id: str = ""
    """That the answer names."""
    ended: float | None = None
    """When the answer was written, or the caller had gone; None when neither was seen."""
    answered: bool = False
    """Whether the answer was written to a caller that was still there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that was done to the product."""

    at: float
    target: str
    """The process or server."""
    deed: str
    until: float
    """When it ran again."""
    ports: frozenset[int] = frozenset()
    """Its ends of the connections that a worker had at that moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A delivery in the database at the end."""

    notification_id: str
    status: Status
    reason: str
    attempts: int
    due_in: float | None
    """Seconds until somebody must look at it; negative when overdue, None when nobody will."""
    call_started_at: float | None
    provider_message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that one run has seen."""

    accepted: list[Accepted]
    refused: list[str]
    """Tokens that the API did not take however often they were posted, with its last answer."""
    calls: list[Call]
    faults: list[Fault]
    rows: list[Row]
    ended: float
    """When the rows were read."""
    server_errors: list[str] = field(default_factory=list)
    """Answers of the API that blame the service itself: 5xx other than 503."""
    ended_alone: list[str] = field(default_factory=list)
    """Processes that ended although nothing was done to them, with their exit codes."""
