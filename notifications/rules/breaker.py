"""Breakers: when a provider is given a rest, and how it is asked whether it is well again.

    closed ── too many failures, or our fault ──> open ── its time has come ──> one probe
      ^                                             ^                              |
      |                                             +────────── it failed ─────────+
      +──────────────────────── it was answered ───────────────────────────────────+

One breaker for each provider and channel. What trips it is data: `THRESHOLDS`. A probe is an
ordinary delivery; while it is out, and between two probes, everything else is held and spends no
attempt. No call of before the trip can close it: every call ends within `lane.PACE`'s deadline,
which is shorter than the wait for the first probe.

`Breaker` is the whole of it in Python, for one process whose state Redis is away. For all processes
`store/lua/breaker_told.lua` and `store/lua/depart.lua` do the same; one set of tests holds both.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Final

from notifications.rules.lane import PACE, Priority
from providers.contract import Channel

PROBE_EVERY: Final = dt.timedelta(seconds=30)
"""Between two probes of one provider that rests."""
PROBE_ANSWERS_WITHIN: Final = PACE[Priority.P0].deadline
"""While a probe is out this long, what is held waits for its answer and not for the next probe."""

RAMP: Final[Mapping[Priority, dt.timedelta]] = MappingProxyType({
    Priority.P0: dt.timedelta(seconds=1),
    Priority.P1: dt.timedelta(seconds=5),
    Priority.P2: dt.timedelta(seconds=30),
    Priority.P3: dt.timedelta(seconds=30),
})
"""Over how long the held come back, so that they do not knock a provider over that just stood up.
An OTP is worth more than an even load, and there are few of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What trips a breaker, beside one answer that says that the fault is ours."""

    streak: int = 0
    """Failures in a row; 0: none are too many."""
    within_ms: int = 0
    """The time that they may take, in milliseconds."""
    minimum: int = 100
    """Calls in the window below which shares say nothing: a few failures would be a fifth."""
    unavailable_share: float = 0.2
    """Calls that found the provider down, of all; more trips."""
    failed_share: float = 0.5
    """The same with those that were never answered."""
    slot_ms: int = 30_000
    """The window is kept in slots of this many milliseconds ..."""
    slots: int = 10
    """... and of this many slots: five minutes."""


_ANY: Final = Thresholds()
THRESHOLDS: Final[Mapping[Channel, Thresholds | None]] = MappingProxyType({
    Channel.PUSH: Thresholds(streak=10, within_ms=5_000),
    Channel.SMS: Thresholds(streak=5, within_ms=2_000),
    Channel.EMAIL: _ANY,
    Channel.IN_APP: _ANY,
    # Each address is a server of its own: one that is down, or refuses us, says nothing of another.
    Channel.WEBHOOK: None,
    Channel.CHAT: _ANY,
})
"""By channel; None: it never trips by itself, an operator can still open it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What some calls of one provider came to, in the order in which they ended."""

    answered: int = 0
    """It was there: accepted, rejected or throttled."""
    unavailable: int = 0
    unanswered: int = 0
    last_failures: int = 0
    """Failures after the last call that was answered."""
    fault: str = ""
    """What it said of our credentials or account, when it blamed us."""

    @property
    def is_clean(self) -> bool:
        """Nothing in it that could trip."""
        return not (self.unavailable or self.unanswered or self.fault)

    def __add__(self, later: Tally) -> Tally:
        """Both, the other after this one."""
        ends_in_same_row = not later.answered
        return Tally(
            answered=self.answered + later.answered,
            unavailable=self.unavailable + later.unavailable,
            unanswered=self.unanswered + later.unanswered,
            last_failures=later.last_failures + self.last_failures * ends_in_same_row,
            fault=later.fault or self.fault,
        )


class Change(IntEnum):
    """What a tally did to a breaker. The number is what Lua answers."""

    NONE = 0
    TRIPPED = 1
    CLOSED = 2


class Door(IntEnum):
    """What a breaker says to who wants to send. The number is what Lua answers."""

    CLOSED = 0
    """The breaker is closed: go."""
    OPEN = 1
    """Wait."""
    PROBE = 2
    """Let one go; its outcome decides."""


class Forced(StrEnum):
    """What an operator has said, whatever the calls say. The value is what Postgres stores."""

    AUTO = ""
    """Nothing: the calls decide."""
    OPEN = "open"
    """Send nothing, not even a probe."""
    CLOSED = "closed"
    """Send everything."""


@dataclass(slots=True, kw_only=True)
class Breaker:
    """One breaker's state. Instants are milliseconds of any one clock that never goes back."""

    open_since: int | None = None
    probe_at: int = 0
    """From when on the next probe may go."""
    probing: int | None = None
    """When the probe that is out left."""
    why: str = ""
    streak: list[list[int]] = field(default_factory=list)
    """[when, failures] of the failures in a row."""
    window: list[list[int]] = field(default_factory=list)
    """[slot, calls, unavailable, unanswered], oldest first."""

    def ask(self, *, now: int) -> tuple[Door, int]:
        """May something go, and if not, for how many milliseconds is it no use to ask again."""
        if self.open_since is None:
            return Door.CLOSED, 0
        if now >= self.probe_at:
            self.probe_at = now + _ms(PROBE_EVERY)
            self.probing = now
            return Door.PROBE, _ms(PROBE_ANSWERS_WITHIN)
        return Door.OPEN, self.wait(now=now)

    def wait(self, *, now: int) -> int:
        """Milliseconds until the probe that is out has its answer, or else until the next."""
        if self.open_since is None:
            return 0
        if self.probing is not None and now < self.probing + _ms(PROBE_ANSWERS_WITHIN):
            return self.probing + _ms(PROBE_ANSWERS_WITHIN) - now
        return max(0, self.probe_at - now)

    def told(self, tally: Tally, *, rule: Thresholds, now: int) -> Change:
        """Take in what calls came to."""
        if self.open_since is not None:
            return self._told_while_open(tally)
        self._count(tally, rule=rule, now=now)
        why = tally.fault or self._too_much(rule)
        if not why:
            return Change.NONE
        self.open_since, self.why = now, why
        self.probe_at = now + _ms(PROBE_EVERY)
        self.streak, self.window = [], []
        return Change.TRIPPED

    def _told_while_open(self, tally: Tally) -> Change:
        if self.probing is None:
            return Change.NONE
        self.probing = None
        if not tally.answered or not tally.is_clean:
            self.why = tally.fault or self.why
            return Change.NONE
        self.open_since, self.why = None, ""
        return Change.CLOSED

    def _count(self, tally: Tally, *, rule: Thresholds, now: int) -> None:
        streak = [] if tally.answered else self.streak
        if tally.last_failures:
            streak = [*streak, [now, tally.last_failures]]
        self.streak = [each for each in streak if each[0] > now - rule.within_ms]
        slot = now // rule.slot_ms
        self.window = [each for each in self.window if each[0] > slot - rule.slots]
        if not self.window or self.window[-1][0] != slot:
            self.window.append([slot, 0, 0, 0])
        counts = self.window[-1]
        counts[1] += tally.answered + tally.unavailable + tally.unanswered
        counts[2] += tally.unavailable
        counts[3] += tally.unanswered

    def _too_much(self, rule: Thresholds) -> str:
        in_a_row = sum(each[1] for each in self.streak)
        if rule.streak and in_a_row >= rule.streak:
            return f"{in_a_row} failures in a row"
        calls, unavailable, unanswered = self.seen()
        failed = unavailable + unanswered
        if calls < rule.minimum:
            return ""
        if unavailable > rule.unavailable_share * calls:
            return f"unavailable in {unavailable} of {calls} calls"
        if failed > rule.failed_share * calls:
            return f"{failed} of {calls} calls failed"
        return ""

    def seen(self) -> tuple[int, int, int]:
        """Calls of the window, how many found it down, and how many were never answered."""
        return (
            sum(each[1] for each in self.window),
            sum(each[2] for each in self.window),
            sum(each[3] for each in self.window),
        )


def _ms(span: dt.timedelta) -> int:
    return span // dt.timedelta(milliseconds=1)
