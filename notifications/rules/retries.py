"""When to try again, and when to stop.

    delay = min(cap, jittered(base * multiplier ** n)), n = 0 for the first retry

Without jitter, everything that failed together comes back together and knocks the provider over
again. A wait that the provider asks for wins when it is longer; a wait that ends after the
notification's TTL is not begun. The presets are data: the shipped ones, and which priority and
channel takes which.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, assert_never

from notifications.rules.lane import Priority
from providers.contract import Channel


class Jitter(StrEnum):
    """How a delay is spread. `u` below is one draw from [0, 1)."""

    NONE = "none"
    """delay"""
    DOUBLE = "double"
    """delay + u * delay"""
    THIRD = "third"
    """delay + u * 0.3 * delay"""
    SECOND = "second"
    """delay + u * 1 s"""
    FULL = "full"
    """u * delay"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One retry policy."""

    name: str
    base: dt.timedelta
    multiplier: float
    cap: dt.timedelta
    attempts: int
    """Provider calls in all, the first included."""
    jitter: Jitter
    drops: bool = False
    """Give up without a dead letter: what nobody would replay."""


_SECOND: Final = dt.timedelta(seconds=1)
_NO_CAP: Final = dt.timedelta(hours=1)
_THIRD: Final = 0.3

PRESETS: Final = MappingProxyType({
    preset.name: preset
    for preset in (
        Preset(
            name="worker",
            base=_SECOND,
            multiplier=2,
            cap=30 * _SECOND,
            attempts=5,
            jitter=Jitter.DOUBLE,
        ),
        Preset(
            name="service",
            base=_SECOND,
            multiplier=2,
            cap=30 * _SECOND,
            attempts=5,
            jitter=Jitter.THIRD,
        ),
        Preset(
            name="push",
            base=2 * _SECOND,
            multiplier=2,
            cap=120 * _SECOND,
            attempts=6,
            jitter=Jitter.SECOND,
        ),
        Preset(
            name="push_spread",
            base=2 * _SECOND,
            multiplier=2,
            cap=120 * _SECOND,
            attempts=6,
            jitter=Jitter.FULL,
        ),
        Preset(
            name="plain",
            base=_SECOND,
            multiplier=2,
            cap=_NO_CAP,
            attempts=6,
            jitter=Jitter.NONE,
        ),
        Preset(
            name="critical",
            base=2 * _SECOND,
            multiplier=4,
            cap=300 * _SECOND,
            attempts=7,
            jitter=Jitter.FULL,
        ),
        Preset(
            name="low",
            base=2 * _SECOND,
            multiplier=4,
            cap=10 * _SECOND,
            attempts=3,
            jitter=Jitter.FULL,
            drops=True,
        ),
    )
})

_BY_PRIORITY: Final = MappingProxyType({
    Priority.P0: "critical",
    Priority.P1: "service",
    Priority.P2: "worker",
    Priority.P3: "low",
})
_BY_LANE: Final = MappingProxyType({(Priority.P2, Channel.PUSH): "push"})


def preset_for(priority: Priority, channel: Channel, *, chosen: str = "") -> Preset:
    """The policy of a lane, unless the notification's type has `chosen` one by name."""
    return PRESETS[chosen or _BY_LANE.get((priority, channel)) or _BY_PRIORITY[priority]]


@dataclass(frozen=True, slots=True)
class Again:
    """Try again after this wait."""

    delay: dt.timedelta


class GiveUp(StrEnum):
    """Why there is no next try; the word is the dead letter's reason."""

    EXHAUSTED = "retries_exhausted"
    """Every attempt of the policy was made."""
    TTL = "ttl_exceeded"
    """The next try would come after the notification's time to live."""


def next_try(
    preset: Preset,
    *,
    calls_made: int,
    chance: float,
    retry_after: dt.timedelta | None,
    time_to_live: dt.timedelta,
) -> Again | GiveUp:
    """Decide after a failed call.

    Args:
        preset: the policy.
        calls_made: calls since the budget began, the failed one included (1 or more).
        chance: one draw from [0, 1).
        retry_after: the provider's own wait, if it gave one.
        time_to_live: what is left of it now.
    """
    if calls_made >= preset.attempts:
        return GiveUp.EXHAUSTED
    delay = _jittered(preset, preset.base * preset.multiplier ** (calls_made - 1), chance)
    delay = max(min(preset.cap, delay), retry_after or dt.timedelta(0))
    return GiveUp.TTL if delay >= time_to_live else Again(delay)


def _jittered(preset: Preset, delay: dt.timedelta, chance: float) -> dt.timedelta:
    match preset.jitter:
        case Jitter.NONE:
            return delay
        case Jitter.DOUBLE:
            return delay + chance * delay
        case Jitter.THIRD:
            return delay + chance * _THIRD * delay
        case Jitter.SECOND:
            return delay + chance * _SECOND
        case Jitter.FULL:
            return chance * delay
        case _:
            assert_never(preset.jitter)
