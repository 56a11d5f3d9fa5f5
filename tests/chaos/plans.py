"""What a run does: what it posts and when, and what it does to the product and when.

A plan is data and depends on its seed alone. Seconds count from the first post.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from notifications.core.rules.lane import Priority
from providers.contract import Channel
from tests.chaos import dice

CHANNELS: Final = (Channel.PUSH, Channel.SMS, Channel.EMAIL, Channel.WEBHOOK)
WORKERS: Final = ("p0", "p0-2", "channels", "transactional")
"""Those that call providers."""
PROCESSES: Final = (*WORKERS, "web", "ops", "beat")
SERVERS: Final = ("broker", "state", "postgres")
PEOPLE: Final = 601
"""A prime, so that each kind of message reaches each person in turn: a number has a ceiling for P0
and P1 SMS."""


class Deed(StrEnum):
    """What is done to a process or server, or to a provider."""

    KILL = "kill"
    """SIGKILL; a process is started again by the supervisor, a server at once."""
    KILL_MAIN = "kill the main process"
    """SIGKILL for the process that was started, and not for its children."""
    TERMINATE = "terminate"
    """A clean stop, as by a deploy; started again when it has ended."""
    FREEZE = "freeze"
    """SIGSTOP, and SIGCONT after the action's seconds."""
    STAY_DEAD = "stay dead"
    """A server is killed and comes back after the action's seconds."""
    FLUSH = "flush"
    """FLUSHALL."""
    FILL = "fill"
    """A Valkey takes no more writes (maxmemory, no eviction) for the action's seconds."""
    READ_ONLY = "read-only"
    """Postgres takes no writes for the action's seconds."""
    STEER = "steer"
    """A provider behaves like the action's manner from now on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a stand-in behaves. Shares are of its calls."""

    fastest: float = 0.05
    slowest: float = 0.5
    """Seconds until an answer."""
    unavailable: float = 0.0
    throttled: float = 0.0
    hangs: float = 0.0
    """Takes the message and never answers."""
    cuts: float = 0.0
    """Takes the message and closes the connection instead of an answer."""
    retry_after: int = 0
    """Seconds that a throttling answer names; 0: it names none."""
    is_down: bool = False
    """Nobody listens."""
    stands_still: bool = False
    """Connections are accepted, as by a frozen server, and what arrives is read only afterwards."""


WELL: Final = Manner()
SHAKY: Final = Manner(unavailable=0.02, throttled=0.02, hangs=0.004, retry_after=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One notification to post."""

    token: str
    priority: Priority
    channel: Channel
    person: int
    falls_back_to: Channel | None = None
    """The second channel of a fallback chain; None: no chain."""


@dataclass(frozen=True, slots=True)
class Post:
    """Messages of one request; one alone goes to the single endpoint."""

    at: float
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One deed."""

    at: float
    deed: Deed
    target: str
    """A process, a server, or a channel's label."""
    seconds: float = 0.0
    manner: Manner = WELL


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A whole run."""

    name: str
    seed: int
    posts: list[Post]
    actions: list[Action] = field(default_factory=list)
    manners: dict[Channel, Manner] = field(default_factory=dict)
    """At the start; a channel that is not named is well."""
    clocks: dict[str, int] = field(default_factory=dict)
    """Processes whose host's clock is wrong, and by how many seconds."""
    settings: dict[str, str] = field(default_factory=dict)
    """Environment variables that differ from those of other runs."""
    beside: tuple[str, ...] = ()
    """Processes beside those of each run."""
    copies: int = 1
    """How many callers post each request at the same time."""
    people: int = PEOPLE
    levels: dict[Priority, float] = field(default_factory=dict)
    """Seconds from acceptance to the call that hold in this run; none of the priority expires."""
    may_be_late: float = 0.01
    """Share of the messages that may be later than their level."""
    drain_seconds: float = 240.0
    """How long after the last post and deed everything may take to leave."""

    @property
    def messages(self) -> list[Message]:
        """All that is posted."""
        return [message for post in self.posts for message in post.messages]


SERVICE_LEVELS: Final = {Priority.P0: 3.0, Priority.P1: 10.0}
"""Seconds at p99, as docs/guarantees.md states them."""
_ROUND: Final = (
    *((name, Deed.KILL) for name in (*PROCESSES, "channels", "transactional")),
    *((name, Deed.KILL) for name in SERVERS),
    ("broker", Deed.FLUSH),
)
"""What is struck before the next round: each process and server, the busiest workers twice."""
_PRIORITIES: Final = tuple(zip(Priority, (0.15, 0.25, 0.35, 0.25), strict=True))
_SIZES: Final = ((1, 0.7), (5, 0.26), (80, 0.04))
_BULK: Final = 80
_POST_SECONDS: Final = 0.25
_FIRST_KILL: Final = 3.0
_TAIL_SECONDS: Final = 3.0
"""Messages go on for a moment after the last kill."""


def token(seed: object, number: int) -> str:
    """Return a word of one message only."""
    return f"tok_{int(dice.chance('token', seed, number) * 2**40):010x}{number:06x}"


def seeded(*, kills: int, seed: int) -> Plan:
    """The mix: kills of everything, all priorities, four channels, providers that are shaky."""
    actions = list(_strikes(kills, seed))
    end = (actions[-1].at if actions else _FIRST_KILL) + _TAIL_SECONDS
    return Plan(
        name=f"{kills} kills, seed {seed}",
        seed=seed,
        posts=list(_mixed_posts(end, seed)),
        actions=actions,
        manners=dict.fromkeys(CHANNELS, SHAKY),
    )


def _strikes(kills: int, seed: int) -> Iterator[Action]:
    at = _FIRST_KILL
    targets: list[tuple[str, Deed]] = []
    for number in range(kills):
        if not targets:
            targets = dice.shuffled(_ROUND, "round", seed, number)
        target, deed = targets.pop()
        yield Action(at=at, deed=deed, target=target)
        at += dice.between(1.0, 4.5, "gap", seed, number)


def _mixed_posts(end: float, seed: int) -> Iterator[Post]:
    number = 0
    for turn in range(int(end / _POST_SECONDS)):
        size = dice.pick(_SIZES, "size", seed, turn)
        least = Priority.P2 if size == _BULK else Priority.P0
        together = dice.pick([(each, 1.0) for each in CHANNELS], "channel", seed, turn)
        messages = []
        for _ in range(size):
            messages.append(_message(seed, number, least=least, bulk_channel=together, size=size))
            number += 1
        yield Post(turn * _POST_SECONDS, tuple(messages))


def _message(
    seed: int, number: int, *, least: Priority, bulk_channel: Channel, size: int
) -> Message:
    allowed = [(priority, weight) for priority, weight in _PRIORITIES if priority >= least]
    channel = dice.pick([(each, 1.0) for each in CHANNELS], "channel of", seed, number)
    return Message(
        token=token(seed, number),
        priority=dice.pick(allowed, "priority", seed, number),
        channel=bulk_channel if size == _BULK else channel,
        person=int(dice.between(0, PEOPLE, "person", seed, number)),
    )
