"""Lanes: the queues that keep priorities and channels apart.

A lane is a mode, a priority and a channel: `p0.push`, `p3.email`, `test.p1.sms`. A marketing burst
or a hung provider slows only its own lanes.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from providers.contract import Channel


class Priority(IntEnum):
    """Urgency of a notification. Postgres stores the number."""

    P0 = 0
    """Security and OTP: passes quiet hours, caps and budgets."""
    P1 = 1
    """Transactional: an order is ready, a payment went through."""
    P2 = 2
    """Social: likes, comments, requests."""
    P3 = 3
    """Marketing and digests."""

    is_urgent: bool
    """P0 and P1: the accepting process publishes them at once."""

    def __init__(self, _number: int) -> None:
        self.is_urgent = self._name_ in {"P0", "P1"}


class Mode(IntEnum):
    """Live or test mode; both modes share the tables, and no rows."""

    LIVE = 1
    TEST = 2
    """Made with a test key: everything but the call of a real provider."""

    label: str
    """`live` or `test`, as keys and the API spell it."""

    def __init__(self, _number: int) -> None:
        self.label = self._name_.lower()


DEFAULT_TIME_TO_LIVE: Final = {
    Priority.P0: dt.timedelta(seconds=300),
    Priority.P1: dt.timedelta(seconds=3600),
    Priority.P2: dt.timedelta(days=1),
    Priority.P3: dt.timedelta(days=2),
}


@dataclass(frozen=True, slots=True, order=True)
class Lane:
    """One queue. Sorts by mode, then priority, so that P0 comes first."""

    mode: Mode
    priority: Priority
    channel: Channel

    @staticmethod
    @functools.cache
    def of(mode: int, priority: int, channel: int) -> Lane:
        """Return the lane of a row's numbers."""
        return Lane(Mode(mode), Priority(priority), Channel(channel))

    @property
    def name(self) -> str:
        """The queue's name in the broker."""
        name = f"p{self.priority.value}.{self.channel.label}"
        return name if self.mode is Mode.LIVE else f"test.{name}"

    @property
    def columns(self) -> dict[str, int]:
        """The lane as columns of a row, and as parameters of a statement."""
        return {"mode": self.mode, "priority": self.priority, "channel": self.channel}


def routing_key(queue: str) -> str:
    """Return the routing key of a queue on RabbitMQ: one word.

    kombu's delayed delivery binds a queue to each key that ends with the words of the queue's key
    (`#.p0.push`), so `test.p0.push` would reach the queue `p0.push` too. Therefore no word ends
    with another word.
    """
    return queue.replace(".", "-")


def queue_of(key: str) -> str:
    """Return the queue of a message's routing key; on Redis the key is the queue's name."""
    return _WAIT.sub("", key).replace("-", ".")


_WAIT: Final = re.compile(r"^(?:[01]\.)+")
"""The binary digits of a message's wait, which kombu's delayed delivery puts before the key."""
LANES: Final = tuple(
    Lane(mode, priority, channel) for mode in Mode for priority in Priority for channel in Channel
)
"""Every lane, live before test, P0 first."""
LANE_NAMED: Final = {lane.name: lane for lane in LANES}
OPS: Final = "ops"
"""Queue of the sweeps."""
TELL: Final = "tell"
"""Queue of the sweep that calls producers' endpoints and waits for their answers."""
EXPAND: Final = "expand"
"""Queue of the sweep that expands bulk jobs, in long transactions."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Time limits of the calls and leases of a priority."""

    deadline: dt.timedelta
    """Total time of one provider call, kept by the adapter; a thread pool ignores Celery's limits.
    """
    begin_within: dt.timedelta
    """Time after the claim in which a task begins calls; then the rest returns to the queue."""
    lease: dt.timedelta
    """Lifetime of a claim without a renewal. Longer than the deadline, so that only a dead or stuck
    worker loses a lease."""


def _pace(*, deadline: float, begin_within: float, lease: float) -> Pace:
    return Pace(
        deadline=dt.timedelta(seconds=deadline),
        begin_within=dt.timedelta(seconds=begin_within),
        lease=dt.timedelta(seconds=lease),
    )


PACE: Final = {
    Priority.P0: _pace(deadline=3, begin_within=4, lease=6),
    Priority.P1: _pace(deadline=10, begin_within=8, lease=20),
    Priority.P2: _pace(deadline=10, begin_within=30, lease=60),
    Priority.P3: _pace(deadline=10, begin_within=30, lease=60),
}
