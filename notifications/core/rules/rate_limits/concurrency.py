"""The adaptive limit of calls in flight at one provider, for one process.

The limit starts at `START`, grows while calls at the limit stay as fast as before, and shrinks when
calls become slower or when the provider throttles or stays silent:

    latency within `baseline`       limit x 2           (no problem in the last seconds)
    latency somewhat above          limit + sqrt(limit) / 2
    latency above `tolerated`       limit x tolerated / latency, at least one half of the limit
    a share of calls throttled or   limit x (1 - share)
    timed out

A latency is the provider's time, without the delays of our own process (`Call.own_delay`); of these
only the part above `OWN_DELAY_SECONDS` shrinks the limit. The latency of a window is the lower
quartile, because a busy local machine delays some calls and a queue at the provider delays all
calls. `baseline` is the lowest window latency. If the baseline was not confirmed for a while, the
limit is lowered for one window to measure again. A latency that rose at once and stays
while the limit is halved twice is the new baseline, and the limit of before is back. So a provider
that became slower is not throttled for long, and a queue caused by our own calls is not taken for
the provider's normal latency.

All times are seconds of one monotonic clock, given as `now`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from math import sqrt
from typing import Final, NamedTuple

START: Final = 20
"""Calls in flight at first: little enough for any provider."""
CEILING: Final = 2_000
"""Most calls in flight at one provider where neither the provider nor a setting says less."""

SLACK_SECONDS: Final = 0.05
"""A latency this much above the baseline says nothing: the adapter cannot tell each delay of our
own processor (`Call.own_delay`) from the provider's time."""
OWN_DELAY_SECONDS: Final = 0.25
"""A delay of our own up to which calls in flight are worth their statements; a longer one counts as
latency, so that calls do not wait here until their deadline."""
TOLERATED: Final = 1.5
"""Latency, in baselines, above which the limit shrinks."""
CALM: Final = 1.2
"""Latency, in baselines, up to which there is no queue at the provider."""
CONFIRMED: Final = 1.1
"""Latency, in baselines, that shows that the baseline still holds."""
CAUTION_SECONDS: Final = 5.0
"""After a window that shrank the limit, it is not doubled for this long."""
BASELINE_LIFE_SECONDS: Final = 5.0
"""A baseline not seen for this long, nor for ten times itself, is measured again."""
WINDOW_SECONDS: Final = 0.02
"""The shortest window."""
WINDOW_LIFE_SECONDS: Final = 30.0
"""A window that has not enough calls by then is dropped: there is too little traffic to judge."""
FEWEST_CALLS: Final = 5
MOST_CALLS: Final = 500
"""A window ends after half as many calls as the limit, within these bounds."""
USED: Final = 0.8
"""Share of the limit that must have been in flight at once for a window to judge it."""
HALF: Final = 0.5
"""The most that one window takes from the limit."""
JUMP: Final = 2
"""A latency of more than this many times the tolerated one rose at once: a queue grows slowly."""
UNMOVED: Final = 0.8
"""Share of such a latency that is left with half of the calls if the provider is slower: a queue of
our own calls would be half as long."""
QUARTER: Final = 0.25
"""Share of the limit at which a latency that stays is the provider's: two windows took a half."""
NEGLIGIBLE: Final = 0.01
"""A share of failed calls up to which the limit does not react."""


class Ending(Enum):
    """Meaning of an ended call for the provider's load."""

    ANSWERED = auto()
    """The latency counts."""
    THROTTLED = auto()
    """The provider said that it was too much."""
    TIMED_OUT = auto()
    """No answer came within the call's deadline."""
    NOTHING = auto()
    """The call did not start, or failed without a word on load (no route, connection refused)."""


class Call(NamedTuple):
    """An ended call."""

    ending: Ending
    seconds: float
    """From its start to its end, without `own_delay`."""
    own_delay: float = 0.0
    """Seconds in which the request or the answer waited for this process."""


CallFields = tuple[Ending, float, float]
"""The fields of `Call` as a tuple, which costs less than a `Call` for each provider call."""


class _Risen(NamedTuple):
    """A latency that rose at once."""

    limit_before: float
    """The limit before the latency rose."""
    limit: float
    """The limit of the window from which on the latency stays."""
    latency: float
    """The latency of this window in seconds."""


class Limit:
    """The limit and the calls in flight. Not thread-safe; `delivery.in_flight` has the lock."""

    def __init__(self, *, ceiling: int = CEILING, start: int = START) -> None:
        """Begin with `start` calls, at most `ceiling`; both at least 1."""
        self._ceiling = max(1, ceiling)
        self._start = min(max(1, start), self._ceiling)
        self._limit = float(self._start)
        self._in_flight = 0
        self._baseline: float | None = None
        self._baseline_at = self._changed_at = 0.0
        self._shrunk_at = -CAUTION_SECONDS
        self._before_probe: tuple[float, float] | None = None
        self._risen: _Risen | None = None
        self._latencies: list[float] = []
        self._own_delays: list[float] = []
        self._failures = self._peak = 0

    @property
    def value(self) -> int:
        """Return the permitted calls in flight, from 1 to the ceiling."""
        return int(self._limit)

    @property
    def in_flight(self) -> int:
        """Return the calls in flight."""
        return self._in_flight

    def record_start(self, count: int) -> None:
        """Record the start of `count` calls."""
        self._in_flight += count
        self._peak = max(self._peak, self._in_flight)

    def record_end(self, count: int, calls: Iterable[CallFields], *, now: float) -> None:
        """Record the end of `count` calls, and the results that some calls had."""
        self._in_flight = max(0, self._in_flight - count)
        for ending, seconds, own_delay in calls:
            if ending is Ending.TIMED_OUT:
                self._failures += 1
            elif now - seconds - own_delay < self._changed_at:
                continue  # it started under an earlier limit
            elif ending is Ending.THROTTLED:
                self._failures += 1
            elif ending is Ending.ANSWERED:
                self._latencies.append(seconds)
                self._own_delays.append(own_delay)
        enough = min(MOST_CALLS, max(FEWEST_CALLS, self._limit / 2))
        if (
            len(self._latencies) + self._failures >= enough
            and now - self._changed_at >= WINDOW_SECONDS
        ):
            self._close_window(now)

    def _open_window(self, now: float) -> None:
        self._changed_at = now
        self._latencies.clear()
        self._own_delays.clear()
        self._failures, self._peak = 0, self._in_flight

    def _close_window(self, now: float) -> None:
        if now - self._changed_at <= WINDOW_LIFE_SECONDS or self._failures:
            share = self._failures / (len(self._latencies) + self._failures)
            latency = _lower_quartile(self._latencies)
            if self._before_probe is not None:
                self._end_probe(*self._before_probe, latency, now)
            elif latency is not None and self._needs_probe(latency, now):
                self._begin_probe(latency)
            else:
                own_delay = _lower_quartile(self._own_delays) or 0.0
                excess = max(0.0, own_delay - OWN_DELAY_SECONDS)
                self._adjust(None if latency is None else latency + excess, share, now)
            self._limit = min(float(self._ceiling), max(1.0, self._limit))
        self._open_window(now)

    def _adjust(self, latency: float | None, share: float, now: float) -> None:
        is_used = self._peak >= USED * self.value
        factor = 1 - share if share > NEGLIGIBLE else 1.0
        if latency is not None and is_used:
            self._compare_with_fewer_calls(latency, now)
            factor = min(factor, self._above(TOLERATED) / max(latency, 1e-9))
        step = sqrt(self._limit) / 2
        if factor < 1:
            self._shrunk_at = now
            # Where most fails there is nothing to grow for; else the limit settles above one.
            self._limit = self._limit * factor + step if factor > HALF else self._limit * HALF
        elif is_used:
            calm = latency is not None and latency <= self._above(CALM)
            doubles = calm and now - self._shrunk_at > CAUTION_SECONDS
            self._limit += self._limit if doubles else step
        elif self._limit < self._start:
            self._limit = min(self._start, self._limit + step)

    def _compare_with_fewer_calls(self, latency: float, now: float) -> None:
        """Take a latency that rose at once for the baseline if a quarter of the calls is as slow.

        A new queue becomes longer while fewer calls make the queue shorter, so one comparison may
        find the same latency. Each change of the latency begins the comparison again.
        """
        risen = self._risen
        if latency <= JUMP * self._above(TOLERATED):
            self._risen = None
        elif risen is None:
            self._risen = _Risen(self._limit, self._limit, latency)
        elif not UNMOVED * risen.latency <= latency <= risen.latency / UNMOVED:
            self._risen = risen._replace(limit=self._limit, latency=latency)
        elif self._limit <= QUARTER * risen.limit:
            self._baseline, self._baseline_at = latency, now
            self._limit, self._risen = risen.limit_before, None

    def _above(self, factor: float) -> float:
        return (self._baseline or 0.0) * factor + SLACK_SECONDS

    # The baseline

    def _needs_probe(self, latency: float, now: float) -> bool:
        """Take a lower latency for the baseline; True when the baseline is too old to trust."""
        if self._baseline is None or latency <= self._baseline:
            self._baseline, self._baseline_at = latency, now
        elif latency <= self._baseline * CONFIRMED:
            self._baseline_at = now
        age = now - self._baseline_at
        return age > max(BASELINE_LIFE_SECONDS, 10 * self._baseline)

    def _begin_probe(self, latency: float) -> None:
        self._before_probe = (self._limit, latency)
        share_in_service = (self._baseline or 0.0) / latency
        self._limit *= min(HALF, 0.7 * share_in_service)  # well below what is served at once

    def _end_probe(
        self, limit: float, latency_before: float, latency: float | None, now: float
    ) -> None:
        """Restore the limit, without the share queued at the provider."""
        self._limit, self._before_probe = limit, None
        if latency is not None:
            self._baseline, self._baseline_at = latency, now
            self._limit *= min(1.0, self._above(TOLERATED) / latency_before)


def _lower_quartile(latencies: list[float]) -> float | None:
    return sorted(latencies)[len(latencies) // 4] if latencies else None
