"""Roll-ups: the figures, the dimensions, the steps, and the sketches of latencies.

A roll-up row holds the counts of one bucket (a minute, an hour or a UTC day) and one series (a
combination of values of the dimensions). The hours and the days are sums of the same increments as
the minutes. Each series is counted in five dimension sets, so that a question about few dimensions
reads few rows.

An event counts in the bucket of its own time: a receipt that arrives today for a notification of
yesterday counts today. Provider and country are those of the last call before the event, so
`accepted` has neither.

The countries of all channels (`rules.countries`) are counted in a dimension set of their own, by
hour and day and without latencies: crossed with types, providers and minutes, 50 countries would
make four times as many rows. The set with all dimensions has the country of SMS alone.

A sketch has a counter for each bin of a logarithmic scale, as DDSketch does: two sketches are
merged by the sum of each bin, and a percentile is exact within ERROR of the latency. A sketch is
stored as one number in which each bin has DIGITS decimal digits, so the sum of two numbers merges
the sketches, and Postgres adds such numbers faster than the entries of arrays.
"""

from __future__ import annotations

import datetime as dt
import functools
import math
import sys
from array import array
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from itertools import zip_longest
from typing import Final, Self

from notifications.core.rules.states import Status

_S = Status


class Counter(StrEnum):
    """A count of a roll-up; the value is the column."""

    sentence: str
    """The counted events, in words."""
    has_reason: bool
    """True for a count that is kept for each reason."""

    def __new__(cls, value: str, sentence: str, has_reason: bool = False) -> Self:  # noqa: FBT001, FBT002 - a tuple of an enum's member has no keywords
        """Create a member from a column, a sentence and the kind of the count."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        member.has_reason = has_reason
        return member

    ACCEPTED = "accepted", "Deliveries created for accepted notifications."
    SENT = "sent", "Deliveries that a provider accepted, each once."
    DELIVERED = "delivered", "Deliveries with a receipt of arrival, each once."
    READ = "read", "Deliveries that the recipient opened."
    CLICKED = "clicked", "Deliveries with a click on a link or button."
    FAILED = "failed", "Deliveries that gave up or were rejected, by reason.", True
    BOUNCED = "bounced", "Deliveries returned after acceptance, by reason.", True
    EXPIRED = "expired", "Deliveries whose time to live passed, by reason.", True
    SUPPRESSED = "suppressed", "Deliveries that were never tried, by reason.", True
    CANCELLED = "cancelled", "Deliveries stopped by the producer or a fallback chain.", True
    UNKNOWN = "unknown", "Deliveries left with an unanswered call, by reason.", True
    UNCONFIRMED = "unconfirmed", "Deliveries without a receipt in the confirm window.", True
    RETRIED = "retried", "Retries planned after a failed call, by reason.", True
    REPLAYED = "replayed", "Dead letters that an operator replayed."
    CALLS = "calls", "Provider calls."
    FAILED_CALLS = "failed_calls", "Provider calls without acceptance, by outcome.", True
    SENT_AFTER_RETRY = "sent_after_retry", "Deliveries sent by their second or a later call."
    FAILED_AFTER_RETRY = (
        "failed_after_retry",
        "Deliveries that failed or expired after two or more calls.",
    )
    COST_MICROS = "cost_micros", "Cost of accepted calls in millionths of a US dollar."


class Latency(IntEnum):
    """A latency with a sketch; Postgres stores the number."""

    ACCEPT_TO_CALL = 1
    """From acceptance, or from the scheduled time, to the start of the first provider call."""
    CALL_TO_ANSWER = 2
    """From the start of a provider call to its answer."""
    ACCEPT_TO_DELIVERED = 3
    """From acceptance, or from the scheduled time, to the arrival that a receipt reports."""


class Step(StrEnum):
    """The length of a bucket."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"

    @property
    def length(self) -> dt.timedelta:
        """The time from a bucket to the next."""
        return dt.timedelta(**{f"{self.value}s": 1})

    @property
    def retention(self) -> dt.timedelta:
        """Retention of the buckets."""
        return _KEPT[self]

    def oldest(self, now: dt.datetime) -> dt.datetime:
        """Return the start of the oldest bucket that is kept."""
        return self.floor(now - self.retention)

    def floor(self, instant: dt.datetime) -> dt.datetime:
        """Return the start of the bucket of an instant."""
        utc = instant.astimezone(dt.UTC)
        match self:
            case Step.MINUTE:
                return utc.replace(second=0, microsecond=0)
            case Step.HOUR:
                return utc.replace(minute=0, second=0, microsecond=0)
            case Step.DAY:
                return utc.replace(hour=0, minute=0, second=0, microsecond=0)


_KEPT: Final = {
    Step.MINUTE: dt.timedelta(days=3),
    Step.HOUR: dt.timedelta(days=100),
    Step.DAY: dt.timedelta(days=731),
}


class Dimension(StrEnum):
    """A property by which figures are grouped and filtered."""

    CHANNEL = "channel"
    PROVIDER = "provider"
    PRIORITY = "priority"
    TYPE = "type"
    TEMPLATE = "template"
    VERSION = "version"
    PRODUCER = "producer"
    COUNTRY = "country"
    MODE = "mode"
    REASON = "reason"

    @property
    def column(self) -> str:
        """The column of the series."""
        return "producer_id" if self is Dimension.PRODUCER else self.value


_ROUTE: Final = frozenset({Dimension.PROVIDER, Dimension.PRIORITY})
_TYPE: Final = frozenset({Dimension.TYPE, Dimension.TEMPLATE, Dimension.VERSION})
_PRODUCER: Final = frozenset({Dimension.PRODUCER})
_COUNTRY: Final = frozenset({Dimension.COUNTRY})
_EVERY_SET: Final = frozenset({Dimension.MODE, Dimension.CHANNEL, Dimension.REASON})


class DimensionSet(IntEnum):
    """The dimensions of a series besides mode, channel and reason.

    The smaller sets hold fewer rows. Postgres stores the number. The order is that of the size.
    """

    extras: frozenset[Dimension]
    """The dimensions that not every set has."""
    steps: tuple[Step, ...]
    """The steps with rows of the set, the shortest first."""
    has_latencies: bool
    """True if the set has sketches of latencies."""

    def __new__(
        cls,
        number: int,
        extras: frozenset[Dimension],
        steps: tuple[Step, ...] = tuple(Step),
        has_latencies: bool = True,  # noqa: FBT001, FBT002 - a tuple of an enum's member has no keywords
    ) -> Self:
        """Create a member from the stored number, the dimensions, the steps and the kind."""
        member = int.__new__(cls, number)
        member._value_ = number
        member.extras = extras
        member.steps = steps
        member.has_latencies = has_latencies
        return member

    ROUTE = 4, _ROUTE
    """Provider and priority."""
    PRODUCER = 1, _ROUTE | _PRODUCER
    """Producer, provider and priority."""
    COUNTRY = 5, _PRODUCER | _COUNTRY, (Step.HOUR, Step.DAY), False
    """Producer and country: counts by hour and day."""
    TYPE = 2, _PRODUCER | _TYPE
    """Producer, type, template and version."""
    ALL = 3, _ROUTE | _TYPE | _PRODUCER | _COUNTRY
    """All dimensions; the country of SMS alone."""


def smallest_set(
    wanted: frozenset[Dimension], *, step: Step | None = None, latencies: bool = False
) -> DimensionSet:
    """Return the smallest dimension set for a question.

    Args:
        wanted: the dimensions.
        step: the step; None: any.
        latencies: True if sketches of latencies are wanted.
    """
    extra = wanted - _EVERY_SET
    return next(
        each
        for each in DimensionSet
        if extra <= each.extras
        and (step is None or step in each.steps)
        and (each.has_latencies or not latencies)
    )


@dataclass(frozen=True, slots=True)
class Cube:
    """A step and a dimension set: the rows of one partition."""

    step: Step
    dimension_set: DimensionSet

    @property
    def number(self) -> int:
        """The value of the column `cube`: 14 for minutes of ROUTE, 33 for days of ALL."""
        return 10 * (list(Step).index(self.step) + 1) + self.dimension_set


CUBES: Final = tuple(
    Cube(step, each) for step in Step for each in DimensionSet if step in each.steps
)

OTHER: Final = "other"
"""The value of a type or template beyond MOST_VALUES on a day; such a producer has the id 0."""
MOST_VALUES: Final = 500
"""Most types, templates and producers of a day and mode with figures of their own, except
OWN_VALUES."""
OWN_VALUES: Final = 50
"""Types and templates of a producer, a day and a mode that have figures of their own beyond
MOST_VALUES, so that a producer with many types takes no place from others."""
MOST_WITH_OWN: Final = 2_000
"""Most types and templates of a day and mode, with OWN_VALUES of all producers."""

COUNTED_REASONS: Final = (
    "client_clicked",
    "complained",
    "failed_over",
    "call_ended",
    "cost_settled",
)
"""The events without a status that count; every event with a status counts."""
REACHED: Final = frozenset({_S.SENT, _S.DELIVERED, _S.READ})
GIVEN_UP: Final = frozenset({_S.FAILED, _S.EXPIRED})
EXPLAINED: Final = frozenset({
    _S.FAILED,
    _S.BOUNCED,
    _S.EXPIRED,
    _S.SUPPRESSED,
    _S.CANCELLED,
    _S.UNKNOWN,
    _S.UNCONFIRMED,
    _S.RETRYING,
})
"""Statuses counted by reason."""

ERROR: Final = 0.05
"""Largest relative error of a percentile."""
GAMMA: Final = (1 + ERROR) / (1 - ERROR)
"""The upper end of each bin divided by its lower end; bin 0 ends at a millisecond."""

DIGITS: Final = 12
"""Decimal digits of a bin in a sketch: a bin counts up to 10^12 - 1 latencies."""
_PER_BIN: Final = 3
_DIGIT_BYTES: Final = 2
_NUMERIC_HEAD: Final = 8
"""Of a number in PostgreSQL's binary form: digits of a bin, bytes of a digit, bytes of the head."""


def bin_of(milliseconds: float) -> int:
    """Return the bin of a latency."""
    return math.ceil(math.log(max(milliseconds, 1)) / math.log(GAMMA))


@functools.cache
def milliseconds_of(bin_number: int) -> float:
    """Return the latency of a bin, at most ERROR away from the counted latencies."""
    return round(2 * GAMMA**bin_number / (GAMMA + 1), 1)


def counts_of(sketch: str) -> list[int]:
    """Return the counts of the bins of a stored sketch, from bin 0 to the highest with a count."""
    bins = -(-len(sketch) // DIGITS)
    digits = sketch.zfill(bins * DIGITS)
    empty = (len(digits) - len(digits.rstrip("0"))) // DIGITS
    ends = range((bins - empty) * DIGITS, 0, -DIGITS)
    return [0] * empty + [int(digits[end - DIGITS : end]) for end in ends]


def percentile(sketch: bytes, share: float) -> float:
    """Return the latency in milliseconds that a share of the latencies of a sketch does not exceed.

    The percentile of a plot is near the highest bins, so the bins are read from the highest down.

    Args:
        sketch: the number as `numeric_send` of PostgreSQL has it: four numbers of 16 bits, of which
            the second is the exponent of the first digit, then the digits to the base 10^4, three
            of them a bin, without zeros at the ends. Python reads a text of 700 decimal digits in
            twice the time.
        share: above 0, at most 1.
    """
    exponent = int.from_bytes(sketch[2:4])
    number, place = divmod(exponent, _PER_BIN)
    missing = _PER_BIN - 1 - place
    digits = array("H", bytes(missing * _DIGIT_BYTES) + sketch[_NUMERIC_HEAD:])
    if sys.byteorder == "little":
        digits.byteswap()
    high, middle, low = digits[::_PER_BIN], digits[1::_PER_BIN], digits[2::_PER_BIN]
    below = total = sum(high) * 10**8 + sum(middle) * 10**4 + sum(low)
    for upper, centre, lower in zip_longest(high, middle, low, fillvalue=0):
        below -= upper * 10**8 + centre * 10**4 + lower
        if below < share * total:
            break
        number -= 1
    return milliseconds_of(number)
