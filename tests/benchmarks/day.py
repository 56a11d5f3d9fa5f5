"""`python -m tests.benchmarks.day`: a day of a billion notifications, computed from measured costs.

Writes the block "a simulated day" of docs/scaling.md and the plot beside it. A fluid model in steps
of a second, of one cell of CELLS equal cells: the recipients of a cell are a share of all. The
costs are of `workers_cost`, `batch_accept` and `receipts`; nothing else is measured here.

- Accepting and receipts come first at PostgreSQL; deliveries get the rest of its processors.
- P0 and P1 have five times the workers that they need, so their ages are those that `p0_latency`,
  `p1_age` and the chaos run of 15 minutes without push measured. The age of P2 and P3 without a
  backlog is that of `p2_age`.
- P2 and P3 have the processes that `rules.lane_lag.workers_wanted` recommends, 90 seconds later.
  While both wait, P2 gets four of five deliveries.
- An outage of push holds P2 and P3 of push. Then they leave with the others, oldest first.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.lane_lag import REPLICAS, workers_wanted
from providers.contract import Channel

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "scaling.md"
PLOT: Final = PAGE.parent / "assets" / "simulated-day.svg"
CELLS: Final = 4
_DAY: Final = 86_400
_HOUR: Final = 3_600
_A_DAY: Final = 1_000_000_000
_SWELL: Final = 0.6
"""The share by which the busiest hour is over the average, and the quietest under it."""
_SALE: Final = range(12 * _HOUR, 12 * _HOUR + 600)
_SALE_RATE: Final = 120_000.0
_SALE_SHARES: Final = {Priority.P0: 0.01, Priority.P1: 0.09, Priority.P2: 0.1, Priority.P3: 0.8}
_OUTAGE: Final = range(18 * _HOUR, 18 * _HOUR + 900)
_SHARES: Final = {Priority.P0: 0.02, Priority.P1: 0.13, Priority.P2: 0.35, Priority.P3: 0.5}
_PUSH: Final = 0.6
_WITH_RECEIPT: Final = 0.35
"""E-mail (25 %) and SMS (10 %)."""
_PROCESSORS: Final = 16
"""Of PostgreSQL's machine; at most _BUSY of them are used."""
_BUSY: Final = 0.7
_ACCEPT_US: Final = 41
_DELIVER_US: Final = 149
_RECEIPT_US: Final = 52
_PROCESS_RATE: Final = 2_000
"""Deliveries a second of a worker process: half of what 240 us of CPU allow."""
_START_SECONDS: Final = 90
_P2_OF_FIVE: Final = 0.8
_USUAL_AGE: Final = {
    Priority.P0: 0.054,
    Priority.P1: 1.5,
    Priority.P2: 1.3,
    Priority.P3: 1.3,
}
_OUTAGE_AGE: Final = {**_USUAL_AGE, Priority.P0: 2.7, Priority.P1: 2.7}
_LATE_SECONDS: Final = 5.0
_ROUNDING: Final = 1e-9
_HEAD: Final = (
    "hour",
    "accepted a second, all four",
    "processors of PostgreSQL, each",
    "worker processes of P2 and P3, each",
    *(priority.name for priority in Priority),
)
_BEGIN: Final = "<!-- begin simulated day -->\n"
_END: Final = "<!-- end simulated day -->"


@dataclass(slots=True)
class Waiting:
    """The waiting deliveries of a priority: counts by the second of their acceptance."""

    seconds: deque[list[float]] = field(default_factory=deque)
    count: float = 0.0

    def add(self, second: int, count: float) -> None:
        """Add the deliveries of a second behind all earlier deliveries."""
        if count:
            self.seconds.append([second, count])
        self.count += count

    def take(self, most: float) -> float:
        """Remove the oldest; returns how many were removed."""
        left = min(most, self.count)
        taken = left
        while left > 0 and self.seconds:
            head = self.seconds[0]
            part = min(head[1], left)
            head[1] -= part
            left -= part
            if head[1] <= _ROUNDING:
                self.seconds.popleft()
        self.count = max(self.count - taken, 0.0)
        return taken

    def age(self, second: int) -> float:
        """Return the age of the oldest, in seconds."""
        return second - self.seconds[0][0] if self.seconds else 0.0


@dataclass(slots=True)
class Hour:
    """The largest values of an hour, in a cell."""

    accepted: float = 0.0
    """The most notifications of a second."""
    postgres: float = 0.0
    """The most processors of PostgreSQL that were busy."""
    processes: int = 0
    """The most worker processes of P2 and P3."""
    ages: dict[Priority, float] = field(default_factory=lambda: dict.fromkeys(Priority, 0.0))
    """The greatest age, in seconds."""


def simulate() -> list[Hour]:
    """Return the hours of the day."""
    hours = [Hour() for _ in range(_DAY // _HOUR)]
    waiting = {priority: Waiting() for priority in REPLICAS}
    held = {priority: Waiting() for priority in REPLICAS}
    wanted: deque[dict[Priority, int]] = deque()
    for second in range(_DAY):
        hour = hours[second // _HOUR]
        rates = _rates(second)
        for priority in REPLICAS:
            away = _PUSH * rates[priority] if second in _OUTAGE else 0.0
            held[priority].add(second, away)
            waiting[priority].add(second, rates[priority] - away)
        if second == _OUTAGE.stop:
            _join(waiting, held)
        wanted.append(_wanted(waiting))
        processes = wanted.popleft() if len(wanted) > _START_SECONDS else wanted[0]
        hour.postgres = max(hour.postgres, _deliver(waiting, rates, processes))
        hour.accepted = max(hour.accepted, sum(rates.values()))
        hour.processes = max(hour.processes, sum(processes.values()))
        for priority, age in (_OUTAGE_AGE if second in _OUTAGE else _USUAL_AGE).items():
            queues = [each[priority] for each in (waiting, held) if priority in each]
            oldest = max([age, *(queue.age(second) for queue in queues)])
            hour.ages[priority] = max(hour.ages[priority], oldest)
    return hours


def _rates(second: int) -> Mapping[Priority, float]:
    """Return the notifications that a cell accepts in a second, by priority."""
    of_sale = len(_SALE) * _SALE_RATE
    average = (_A_DAY - of_sale) / _DAY
    usual = average * (1 + _SWELL * math.sin(2 * math.pi * (second / _DAY - 0.375)))
    sale = _SALE_RATE if second in _SALE else 0.0
    return {
        priority: (usual * _SHARES[priority] + sale * _SALE_SHARES[priority]) / CELLS
        for priority in Priority
    }


def _join(waiting: Mapping[Priority, Waiting], held: Mapping[Priority, Waiting]) -> None:
    """Put the held deliveries among the waiting ones, oldest first."""
    for priority, more in held.items():
        both = sorted([*waiting[priority].seconds, *more.seconds], key=lambda each: each[0])
        waiting[priority].seconds = deque(both)
        waiting[priority].count += more.count
        more.seconds.clear()
        more.count = 0.0


def _wanted(waiting: Mapping[Priority, Waiting]) -> dict[Priority, int]:
    lanes = {
        Lane(Mode.LIVE, priority, Channel.PUSH): round(each.count)
        for priority, each in waiting.items()
    }
    return workers_wanted(lanes)


def _deliver(
    waiting: Mapping[Priority, Waiting],
    rates: Mapping[Priority, float],
    processes: Mapping[Priority, int],
) -> float:
    """Deliver for a second; returns the busy processors of PostgreSQL."""
    urgent = rates[Priority.P0] + rates[Priority.P1]
    accepted = sum(rates.values())
    first = (accepted * (_ACCEPT_US + _WITH_RECEIPT * _RECEIPT_US) + urgent * _DELIVER_US) / 1e6
    room = max((_PROCESSORS * _BUSY - first) * 1e6 / _DELIVER_US, 0.0)
    limits = {each: processes[each] * _PROCESS_RATE for each in REPLICAS}
    p2 = waiting[Priority.P2].take(min(limits[Priority.P2], _P2_OF_FIVE * room))
    p3 = waiting[Priority.P3].take(min(limits[Priority.P3], room - p2))
    p2 += waiting[Priority.P2].take(min(limits[Priority.P2] - p2, room - p2 - p3))
    return first + (p2 + p3) * _DELIVER_US / 1e6


def text(page: str, hours: list[Hour]) -> str:
    """Return the page with the results."""
    before, _, rest = page.partition(_BEGIN)
    return before + _BEGIN + "\n".join(_lines(hours)) + "\n" + rest[rest.index(_END) :]


def _lines(hours: list[Hour]) -> Iterator[str]:
    yield f"| {' | '.join(_HEAD)} |"
    yield f"| {' | '.join(['---'] * len(_HEAD))} |"
    for number, hour in enumerate(hours):
        if number % 6 and max(hour.ages.values()) < _LATE_SECONDS:
            continue
        ages = " | ".join(f"{hour.ages[each]:,.1f} s" for each in Priority)
        yield (
            f"| {number:02}:00 | {hour.accepted * CELLS:,.0f} | {hour.postgres:.1f} of"
            f" {_PROCESSORS} | {hour.processes} | {ages} |"
        )


def main() -> None:
    """Write the page and the plot."""
    from tests.benchmarks import day_plot  # noqa: PLC0415 - it needs this module

    hours = simulate()
    PAGE.write_text(text(PAGE.read_text(), hours))
    PLOT.write_text(day_plot.svg(hours))


if __name__ == "__main__":
    main()
