"""The time of the next attempt, and the end of the attempts.

    delay = jittered(base * multiplier ** n), at most the cap; n = 0 for the first retry

Jitter spreads messages that failed together, also at the cap: a delay above the cap becomes one of
80 to 100 % of the cap. A provider's longer wait wins; a wait that ends after the notification's TTL
is not begun. The presets are data.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from providers.contract import Channel


class Jitter(StrEnum):
    """The spread of a delay. `u` below is one draw from [0, 1)."""

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


@dataclass(frozen=True, slots=True)
class Preset:
    """One retry policy."""

    name: str
    jitter: Jitter
    _: KW_ONLY
    base: dt.timedelta
    multiplier: float
    cap: dt.timedelta
    attempts: int
    """Provider calls in all, with the first."""
    drops: bool = False
    """Give up without a dead letter."""


_S: Final = dt.timedelta(seconds=1)
_THIRD: Final = 0.3
_AT_CAP_FROM: Final = 0.8
"""Shortest delay of those that the cap shortens, as a share of the cap. The share is the same for
each jitter: one second of jitter at a cap of five minutes would bring all messages of an outage
back together."""

_SHIPPED: Final = (
    Preset("worker", Jitter.DOUBLE, base=_S, multiplier=2, cap=30 * _S, attempts=5),
    Preset("service", Jitter.THIRD, base=_S, multiplier=2, cap=30 * _S, attempts=5),
    Preset("push", Jitter.SECOND, base=2 * _S, multiplier=2, cap=120 * _S, attempts=6),
    Preset("push_spread", Jitter.FULL, base=2 * _S, multiplier=2, cap=120 * _S, attempts=6),
    Preset("plain", Jitter.NONE, base=_S, multiplier=2, cap=3_600 * _S, attempts=6),
    Preset("critical", Jitter.FULL, base=2 * _S, multiplier=4, cap=300 * _S, attempts=7),
    Preset("low", Jitter.FULL, base=2 * _S, multiplier=4, cap=10 * _S, attempts=3, drops=True),
    # For types that must get through an outage of hours: four retries within three minutes, then
    # one every four to five minutes, for about four hours in all.
    Preset("patient", Jitter.SECOND, base=2 * _S, multiplier=4, cap=300 * _S, attempts=57),
)
PRESETS: Final = MappingProxyType({preset.name: preset for preset in _SHIPPED})
"""As shipped; `store.cached.retry_presets` adds what admin has changed."""

_BY_PRIORITY: Final = MappingProxyType({
    Priority.P0: "critical",
    Priority.P1: "service",
    Priority.P2: "worker",
    Priority.P3: "low",
})
_BY_LANE: Final = MappingProxyType({(Priority.P2, Channel.PUSH): "push"})


def preset_for(
    priority: Priority,
    channel: Channel,
    *,
    chosen: str = "",
    presets: Mapping[str, Preset] = PRESETS,
) -> Preset:
    """Return the policy of a lane, unless the notification's type has `chosen` one by name.

    A deleted name counts as not chosen.
    """
    usual = _BY_LANE.get((priority, channel)) or _BY_PRIORITY[priority]
    return presets.get(chosen) or presets[usual]


class Try(NamedTuple):
    """One retry of a preset's timetable."""

    number: int
    shortest: dt.timedelta
    longest: dt.timedelta
    """The wait before this retry lies between the two."""
    earliest: dt.timedelta
    latest: dt.timedelta
    """Time since the first call, if every call fails at once."""


def timetable(preset: Preset) -> list[Try]:
    """List the retries of a preset if every call fails at once."""
    tries: list[Try] = []
    earliest = latest = dt.timedelta(0)
    for number in range(1, preset.attempts):
        shortest, longest = _bounds(preset, number)
        earliest, latest = earliest + shortest, latest + longest
        tries.append(Try(number, shortest, longest, earliest, latest))
    return tries


def delay_after(preset: Preset, calls_made: int, *, chance: float) -> dt.timedelta:
    """Return the jittered delay after so many calls, at most the cap.

    A delay above the cap becomes one of the last fifth below the cap, in the order of the draws.
    """
    # A power of a large number of calls is no number that a timedelta can hold.
    factor = min(preset.multiplier ** min(calls_made - 1, 64), 1e6)
    grown = preset.base * factor
    delay = _add_jitter(preset, grown, chance)
    if delay <= preset.cap:
        return delay
    if preset.jitter is Jitter.NONE:
        return preset.cap
    lowest = max(preset.cap, _add_jitter(preset, grown, 0.0))
    share = (delay - lowest) / (_add_jitter(preset, grown, 1.0) - lowest)
    return preset.cap * (_AT_CAP_FROM + (1 - _AT_CAP_FROM) * share)


def _bounds(preset: Preset, calls_made: int) -> tuple[dt.timedelta, dt.timedelta]:
    """Return the shortest and the longest delay after so many calls."""
    shortest = delay_after(preset, calls_made, chance=0.0)
    longest = delay_after(preset, calls_made, chance=1.0)
    is_shortened = longest == preset.cap and preset.jitter is not Jitter.NONE
    return min(shortest, preset.cap * _AT_CAP_FROM) if is_shortened else shortest, longest


@dataclass(frozen=True, slots=True)
class Again:
    """Try again after this wait."""

    delay: dt.timedelta


_FINE: Final = dt.timedelta(milliseconds=50)
_COARSE: Final = dt.timedelta(milliseconds=250)
_FINE_BELOW: Final = dt.timedelta(seconds=8)
"""Retries that round to the same wait share one message; the steps keep the jitter visible."""
LONGEST_URGENT_WAIT: Final = dt.timedelta(seconds=10)
"""Limit of a provider's wait for P0 and P1, so that a minimum of a minute does not outlive an OTP.
"""


def next_try(
    preset: Preset,
    *,
    calls_made: int,
    chance: float,
    retry_after: dt.timedelta | None,
    time_to_live: dt.timedelta,
    is_urgent: bool,
) -> Again | Reason:
    """Return the wait after a failed call, or the reason to give up.

    The wait is jittered, capped and rounded up before the comparison with the time to live.

    Args:
        preset: the policy.
        calls_made: calls since the budget began, the failed one included (1 or more).
        chance: one draw from [0, 1).
        retry_after: the provider's own wait, if it gave one.
        time_to_live: the rest of the notification's time to live.
        is_urgent: P0 and P1, whose waits a provider can only lengthen to LONGEST_URGENT_WAIT.
    """
    if calls_made >= preset.attempts:
        return Reason.RETRIES_EXHAUSTED
    delay = delay_after(preset, calls_made, chance=chance)
    asked = retry_after or dt.timedelta(0)
    if is_urgent:
        asked = min(asked, LONGEST_URGENT_WAIT)
    delay = round_up(max(delay, asked))
    return Reason.TTL_EXCEEDED if delay >= time_to_live else Again(delay)


def round_up(delay: dt.timedelta) -> dt.timedelta:
    """Round a wait up to the next 50 ms, from 8 s on to the next 250 ms."""
    step = _FINE if delay < _FINE_BELOW else _COARSE
    return -(-delay // step) * step


def _add_jitter(preset: Preset, delay: dt.timedelta, chance: float) -> dt.timedelta:
    match preset.jitter:
        case Jitter.NONE:
            return delay
        case Jitter.DOUBLE:
            return delay + chance * delay
        case Jitter.THIRD:
            return delay + chance * _THIRD * delay
        case Jitter.SECOND:
            return delay + chance * _S
        case Jitter.FULL:
            return chance * delay
