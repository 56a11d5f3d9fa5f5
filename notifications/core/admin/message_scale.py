"""The timeline of a notification, drawn to scale: waits, provider calls and stages.

Positions are percentages of the width. The axis is linear if the shortest call is still visible,
else logarithmic, and the page names the scale. A table below the drawing has the same instants.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from notifications.core.rules.states import OPEN, Status
from notifications.core.rules.times.durations import duration
from notifications.core.rules.times.stages import Stage
from notifications.core.store.postgres.timelines import DeliveryView, Timeline

_VISIBLE: Final = 0.004
"""Share of the width below which a bar cannot be seen."""
_SHORTEST: Final = 0.01
"""Seconds at which the logarithmic axis begins."""
_STEPS: Final = (
    *((0.01, "10 ms"), (0.1, "100 ms"), (1, "1 s"), (10, "10 s"), (60, "1 min")),
    *((600, "10 min"), (3600, "1 h"), (36_000, "10 h"), (86_400, "1 day"), (864_000, "10 days")),
    (8_640_000, "100 days"),
)
"""Ticks of the logarithmic axis: seconds and label."""
_LINEAR_TICKS: Final = 4
_BARS_SAID: Final = 12
"""Bars that are named one by one for screen readers; more calls are said as numbers."""
_NEAR: Final = 4.0
"""Percent of the width within which the labels of two ticks would overlap."""


class BarKind(StrEnum):
    """The meaning of a bar."""

    WAIT = "wait"
    """Time in a queue, a hold or before a retry."""
    CALL = "call"
    """A provider call without acceptance."""
    ACCEPTED = "accepted"
    """A provider call with acceptance."""
    RECEIPT = "receipt"
    """Time from the acceptance by the provider to the last receipt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A time span; `left` and `width` are percentages."""

    kind: BarKind
    left: float
    width: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """An instant: a reached stage, or the present."""

    left: float
    label: str
    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """The bars and marks of a delivery."""

    delivery: DeliveryView
    bars: Sequence[Bar]
    marks: Sequence[Mark]
    summary: str
    """The track in words, for screen readers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The drawing of a notification."""

    tracks: Sequence[Track]
    ticks: Sequence[Mark]
    is_logarithmic: bool
    length: str
    """Time from the first to the last instant."""


@dataclass(frozen=True, slots=True)
class _Axis:
    seconds: float
    is_logarithmic: bool

    def place(self, seconds: float) -> float:
        """Return the position of an instant in percent."""
        shown = min(max(seconds, 0.0), self.seconds)
        if not self.is_logarithmic:
            return 100 * shown / self.seconds
        return 100 * math.log1p(shown / _SHORTEST) / math.log1p(self.seconds / _SHORTEST)

    def ticks(self) -> Iterator[Mark]:
        """Yield the ticks without overlapping labels."""
        if not self.is_logarithmic:
            for number in range(_LINEAR_TICKS + 1):
                seconds = self.seconds * number / _LINEAR_TICKS
                yield Mark(left=self.place(seconds), label=duration(seconds), stage="")
            return
        yield Mark(left=0, label="0", stage="")
        last = 0.0
        for seconds, label in _STEPS:
            left = self.place(seconds)
            if seconds < self.seconds and last + _NEAR < left < 100 - _NEAR:
                last = left
                yield Mark(left=left, label=label, stage="")
        yield Mark(left=100, label=duration(self.seconds), stage="")


def draw(timeline: Timeline, *, now: dt.datetime) -> Drawing | None:
    """Return the drawing; None for a notification without deliveries.

    Args:
        timeline: the notification.
        now: end of the drawing while a delivery is open.
    """
    if not timeline.deliveries:
        return None
    start = timeline.notification.created_at
    ends = [_end(delivery, timeline, now=now) for delivery in timeline.deliveries]
    total = max(*((end - start).total_seconds() for end in ends), _SHORTEST, 0.0)
    calls = [
        max(attempt.latency_ms / 1000, 0.001)
        for delivery in timeline.deliveries
        for attempt in delivery.attempts
    ]
    axis = _Axis(total, is_logarithmic=bool(calls) and min(calls) / total < _VISIBLE)
    return Drawing(
        tracks=[
            _track(delivery, end, axis, start=start)
            for delivery, end in zip(timeline.deliveries, ends, strict=True)
        ],
        ticks=list(axis.ticks()),
        is_logarithmic=axis.is_logarithmic,
        length=duration(total),
    )


def _end(delivery: DeliveryView, timeline: Timeline, *, now: dt.datetime) -> dt.datetime:
    if delivery.status in OPEN:
        return now
    own = [event.at for event in timeline.events if event.delivery_id == delivery.id]
    reached = [stage.at for stage in delivery.stages]
    calls = [
        each.started_at + dt.timedelta(milliseconds=max(each.latency_ms, 1))
        for each in delivery.attempts
    ]
    return max([timeline.notification.created_at, *own, *reached, *calls])


def _track(delivery: DeliveryView, end: dt.datetime, axis: _Axis, *, start: dt.datetime) -> Track:
    bars = list(_bars(delivery, end, axis, start=start))
    marks = [
        Mark(
            left=axis.place(stage.seconds_since_accept),
            label=f"{stage.stage.value} after {duration(stage.seconds_since_accept)}",
            stage=stage.stage.value,
        )
        for stage in delivery.stages
        if stage.stage is not Stage.CALLED
    ]
    if delivery.status in OPEN:
        marks.append(Mark(left=axis.place((end - start).total_seconds()), label="now", stage="now"))
    said = _calls_in_words(delivery, bars) + [mark.label for mark in marks]
    return Track(delivery=delivery, bars=bars, marks=marks, summary="; ".join(said))


def _calls_in_words(delivery: DeliveryView, bars: Sequence[Bar]) -> list[str]:
    if len(bars) <= _BARS_SAID:
        return [bar.label for bar in bars]
    counted = Counter(attempt.outcome for attempt in delivery.attempts)
    return [f"{count} calls: {outcome}" for outcome, count in counted.most_common()]


def _bars(
    delivery: DeliveryView, end: dt.datetime, axis: _Axis, *, start: dt.datetime
) -> Iterator[Bar]:
    last = 0.0
    for attempt in delivery.attempts:
        begin = max((attempt.started_at - start).total_seconds(), last)
        if begin > last:
            yield _bar(BarKind.WAIT, last, begin, axis, f"waited {duration(begin - last)}")
        last = begin + max(attempt.latency_ms, 1) / 1000
        kind = BarKind.ACCEPTED if attempt.outcome == "accepted" else BarKind.CALL
        label = f"call {attempt.number}: {attempt.outcome}, {attempt.latency_ms} ms"
        yield _bar(kind, begin, last, axis, label)
    rest = (end - start).total_seconds()
    if rest <= last:
        return
    if delivery.status in {Status.DELIVERED, Status.READ, Status.BOUNCED}:
        label = f"receipt {duration(rest - last)} after the call"
        yield _bar(BarKind.RECEIPT, last, rest, axis, label)
    elif delivery.status in OPEN or not delivery.attempts:
        yield _bar(BarKind.WAIT, last, rest, axis, f"waited {duration(rest - last)}")


def _bar(kind: BarKind, begin: float, end: float, axis: _Axis, label: str) -> Bar:
    left = axis.place(begin)
    width = max(axis.place(end) - left, 100 * _VISIBLE)
    return Bar(kind=kind, left=round(left, 3), width=round(min(width, 100 - left), 3), label=label)
