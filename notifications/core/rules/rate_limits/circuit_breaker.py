"""Circuit breakers: conditions for a trip, and probes that detect the recovery.

    closed ── failures in a row, too large a share of them, our fault, refusals ──> open
      ^                                                                              |
      └──────────── a probe was answered <── one probe <── the probe is due <────────┘

Each provider and channel has a breaker. A provider with endpoints on different servers (webhook,
chat) has a breaker for each endpoint instead. `Thresholds` are data.

A probe is an ordinary delivery that spends no attempt; no delivery is the probe twice in a row
while others wait. Only a probe's answer closes a breaker. Deliveries behind an open breaker are
held and spend no attempt:

    P2, P3   one probe each `PROBE_EVERY`
    P0, P1   without another provider: probes after 1, 2, 4, 8, 8 ... seconds, so that held
             deliveries leave within `URGENT_PROBE_EVERY` plus the time of a call after the outage;
             at most `LOOKS_PER_SECOND` of the rows are checked again, until the breaker closes

A provider that refuses most calls, or reports ten addresses in a row as dead, probably has wrong
settings. The breaker then opens as *rejecting*: only an accepted probe closes the breaker, and
refusals beyond the first `REFUSALS_BELIEVED` neither invalidate a contact nor fail a delivery.

Some answers mean a dead address or a wrong setting (`Rejected.may_be_misconfigured`). The contact
of such an answer is a suspect. The next accepted call of the provider confirms the suspects and
ends the contacts. `SUSPECTS` suspects without an accepted call open the breaker as rejecting: then
no contact ends. Endpoints have no suspects: their addresses hold the user's own credentials.

`store/redis/lua/health_told.lua` and `store/redis/lua/depart.lua` keep the state in Redis.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple, Self

from notifications.core.rules.lane import PACE, Priority
from providers.contract import Channel

PROBE_EVERY: Final = dt.timedelta(seconds=30)
"""Interval between probes of one open breaker."""
FIRST_URGENT_PROBE: Final = dt.timedelta(seconds=1)
"""From a trip to the first probe by a P0 or P1 without another provider. The gap doubles with each
such probe, up to `URGENT_PROBE_EVERY`."""
URGENT_PROBE_EVERY: Final = dt.timedelta(seconds=8)
"""Longest gap between two of them: a shorter gap would give more messages to a provider that takes
messages and does not answer."""
PROBE_ANSWERS_WITHIN: Final = PACE[Priority.P0].deadline
"""While a probe is out this long, held deliveries wait for its answer and not for the next probe.
"""
LAST_PROBE_YIELDS_FOR: Final = dt.timedelta(seconds=2)
"""Time for which other deliveries go before the delivery of the last probe."""
LOOKS_PER_SECOND: Final = 10
"""P0 and P1 deliveries per second claimed again behind one open breaker."""

RAMP: Final = dt.timedelta(seconds=30)
"""Time over which held P2 and P3 come back after a probe, to spare a recovering provider."""

FAULT_ALONE: Final = dt.timedelta(seconds=5)
"""An answer that blames our account trips a breaker if no call was accepted for this long ..."""
FAULTS: Final = 3
"""... or if this many such answers come in a row."""

REFUSALS_BELIEVED: Final = 10
"""Refusals of a rejecting provider treated as genuine, per wave."""
SUSPECTS: Final = 3
"""Distinct addresses in a row with an answer that can mean a wrong setting: so many are a wave if
no call was accepted for `FAULT_ALONE`, else `REFUSALS_BELIEVED` are."""
REFUSAL_SAMPLE: Final = 20
"""Calls in the window below which a share of refusals is ignored."""
ENDPOINT_CALLS: Final = 64
"""Calls that one endpoint may have out before its first answer. Each answer raises the number by
one; a failure resets it."""
MOST_ENDPOINT_CALLS: Final = 2_000
"""Upper bound of the calls of one endpoint without an answer."""
ENDPOINTS_LISTED: Final = 10_000
"""Paused endpoints of one provider listed for operators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Conditions for a trip, besides an answer about our account."""

    streak: int = 0
    """Failures in a row within `within_ms`; 0: no limit."""
    within_ms: int = 0
    quiet_streak: int = 3
    """Failures in a row, if the first is at least `quiet_ms` old."""
    quiet_ms: int = 2_000
    minimum: int = 100
    """Calls in the window below which shares are ignored."""
    unavailable_share: float = 0.2
    """Share of calls that found the provider down; more trips."""
    failed_share: float = 0.5
    """The same, with unanswered calls."""
    refused_share: float = 0.5
    """Share of rejected calls, of at least `REFUSAL_SAMPLE`; more trips. 1: never."""
    opens: bool = True
    """False: only dead addresses are counted, because its endpoints have breakers of their own."""
    slot_ms: int = 30_000
    """The window has slots of this many milliseconds ..."""
    slots: int = 10
    """... and this many slots: five minutes."""


class Streak(NamedTuple):
    """Failures in a row within a number of seconds."""

    failures: int
    seconds: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `10/5`.

        Raises:
            ValueError: it is written in another way, or a number is out of range.
        """
        failures, _, seconds = text.partition("/")
        try:
            streak = cls(int(failures), float(seconds))
        except ValueError:
            raise ValueError(
                f"{text!r} is not of the form failures/seconds, such as 10/5"
            ) from None
        if not (
            _FEWEST_FAILURES <= streak.failures <= _MOST_FAILURES
            and 0 < streak.seconds <= _LONGEST_STREAK_S
        ):
            raise ValueError(
                f"{text!r}: from {_FEWEST_FAILURES} to {_MOST_FAILURES} failures within at most"
                f" {_LONGEST_STREAK_S} seconds"
            )
        return streak


_FEWEST_FAILURES: Final = 2
_MOST_FAILURES: Final = 1_000
_LONGEST_STREAK_S: Final = 300
STREAKS: Final = MappingProxyType({Channel.PUSH: Streak(10, 5), Channel.SMS: Streak(5, 2)})
"""As shipped; a missing channel has only the thresholds of all channels."""


def thresholds_of(streak: Streak | None) -> Thresholds:
    """Return the thresholds of a provider as a whole."""
    if streak is None:
        return Thresholds()
    return Thresholds(streak=streak.failures, within_ms=round(streak.seconds * 1_000))


OF_ENDPOINT: Final = Thresholds(refused_share=1)
"""Of one endpoint, whose refusals are believed."""
EVERY_ENDPOINT: Final = "*"
"""The endpoint that stands for all of a provider: only dead addresses are counted."""
OVER_ENDPOINTS: Final = Thresholds(opens=False, refused_share=1)
"""Of a provider whose endpoints have breakers of their own."""


class HealthKey(NamedTuple):
    """Provider, channel and endpoint of a breaker and a bucket."""

    provider: str
    channel: Channel
    endpoint: str = ""
    """As `Capabilities.endpoint_of` names it; empty: the provider as a whole."""

    @property
    def pair(self) -> tuple[str, Channel]:
        """Provider and channel, for which operators force breakers."""
        return self.provider, self.channel

    @property
    def label(self) -> str:
        """For logs and alerts."""
        return f"{self.provider} {self.channel.label} {self.endpoint}".strip()


@dataclass(frozen=True, slots=True)
class Suspect:
    """A contact after an answer for a dead address or wrong settings."""

    contact_id: int
    code: str
    claimed_ms: int
    """Time of the claim, in milliseconds since 1970."""


class Probe(StrEnum):
    """Result of the probes in some calls; Lua reads the value."""

    NONE = ""
    """There was no probe."""
    FAILED = "failed"
    """All failed."""
    ANSWERED = "answered"
    """One was rejected or throttled, none accepted."""
    ACCEPTED = "accepted"
    """One was accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStats:
    """Results of calls, in the order of their ends."""

    accepted: int = 0
    rejected: int = 0
    last_dead: int = 0
    """Distinct addresses called dead after the last accepted call, without the suspects."""
    suspects: tuple[Suspect, ...] = ()
    """Of distinct contacts after the last accepted call, `REFUSALS_BELIEVED` at most."""
    confirms: bool = False
    """True if a call was accepted just now, after the suspects of earlier reports."""
    throttled: int = 0
    unavailable: int = 0
    unanswered: int = 0
    last_failures: int = 0
    """Unavailable and unanswered calls after the last answered call."""
    faults: int = 0
    """Calls after the last answered one in which the provider blamed our account."""
    fault: str = ""
    """The text of the last of them."""
    failure: str = ""
    """The answer to the last unavailable or unanswered call, in a few words."""
    probe: Probe = Probe.NONE
    calls: int = 0
    """All ended calls."""
    returned: int = 0
    """Calls that an endpoint had room for and that did not begin, or are not counted."""

    @property
    def is_plain_success(self) -> bool:
        """True if all calls were accepted and no call was a probe: the report can wait."""
        return self.calls == self.accepted and not self.probe

    def as_probes(self) -> CallStats:
        """Return the same calls as probes."""
        if self.accepted:
            return replace(self, probe=Probe.ACCEPTED)
        is_answered = self.rejected or self.throttled
        return replace(self, probe=Probe.ANSWERED if is_answered else Probe.FAILED)

    def after_accepted(self, earlier: int, *, are_fresh: bool) -> CallStats:
        """Add accepted calls that ended earlier; `are_fresh`: within the last second."""
        return replace(
            self,
            accepted=self.accepted + earlier,
            calls=self.calls + earlier,
            confirms=self.accepted > 0 or (earlier > 0 and are_fresh),
        )


class BreakerChange(IntEnum):
    """Effect of a tally on a breaker, as answered by Lua."""

    NONE = 0
    TRIPPED = 1
    CLOSED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerReport:
    """The state of a breaker after a tally."""

    change: BreakerChange
    is_open: bool
    believed: int
    """Rejections in the tally, in their order, that are believed."""
    why: str = ""
    """The reason why the breaker tripped."""
    confirmed: tuple[Suspect, ...] = ()
    """Suspects of earlier calls after which the provider accepted a call."""
    is_ignored: bool = False
    """True if an operator has forced the breaker closed: each refusal is genuine."""


class BreakerState(IntEnum):
    """State of a breaker for new deliveries. Lua returns the number."""

    CLOSED = 0
    """The breaker is closed: go."""
    OPEN = 1
    """Wait."""
    HALF_OPEN = 2
    """Send one delivery as a probe; the outcome decides."""


class BreakerOverride(StrEnum):
    """An operator's override. Postgres stores the value."""

    AUTO = ""
    """No override: the outcomes of calls decide."""
    CLOSED = "closed"
    """Send everything, and treat every refusal as genuine."""
