"""Tables and tiles of the monitoring pages, from the totals of a scope."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from notifications.admin.monitoring import words
from notifications.admin.monitoring.names import Names
from notifications.admin.monitoring.scope import Scope
from notifications.rules.reach import ReachCounts, ReachResult, event_share, share
from notifications.rules.rollups import Dimension
from notifications.rules.service_levels import REACHED
from notifications.store.redis import reach as newest_reach
from notifications.store.redis import state

_ROWS: Final = 10
_WORST: Final = 3
"""Rows of each dimension in the table of failures."""
_PARTS: Final = (Dimension.CHANNEL, Dimension.PROVIDER, Dimension.PRODUCER, Dimension.TYPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A number of the time range, and the number of the time before."""

    name: str
    value: float | None
    before: float | None
    unit: str = "count"
    """`count`, `share` or `money`."""
    is_bad: bool = False
    meaning: str = ""

    @property
    def text(self) -> str:
        """The number in words."""
        return words.number(self.value, self.unit)

    @property
    def change(self) -> str:
        """The change against the time before, in words."""
        return words.change(self.value, self.before, self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRow:
    """A part of the traffic with failures."""

    dimension: Dimension
    name: str
    url: str
    failed: str
    share: str
    """Failed deliveries, divided by sent and failed ones."""
    first: str
    """The first point with a failure."""
    last: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionRow:
    """Sent deliveries, cost and reactions of one value of a dimension."""

    name: str
    url: str
    sent: str
    delivered: str
    """Number and share of the sent deliveries, as `read` and `clicked`."""
    read: str
    clicked: str
    failed: str
    cost: str


def tiles(scope: Scope) -> list[Tile]:
    """Return the tiles of a page."""
    earlier = scope.before()
    found = [
        ("Accepted", "accepted", "count", "deliveries that were asked for"),
        ("Sent", "sent", "count", "a provider took the message"),
        ("Delivered", "delivered", "count", "by receipts; not every provider gives receipts"),
        ("Failed", "failed", "count", "gave up; see the dead letters"),
        ("Failure rate", "failure_rate", "share", "failed, bounced and expired"),
        ("Cost", "cost", "money", "of SMS and e-mail at list prices, in US dollars"),
    ]
    made = []
    for name, metric, unit, meaning in found:
        value, before = scope.total(metric), earlier.total(metric)
        is_bad = metric == "failure_rate" and (value or 0) > _HIGH
        made.append(
            Tile(name=name, value=value, before=before, unit=unit, is_bad=is_bad, meaning=meaning)
        )
    return made


_HIGH: Final = 0.005
"""The service level: 99.5 % of the deliveries of a channel are sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachRow:
    """The notifications of a priority, or of all, by result."""

    name: str
    share: str
    is_bad: bool
    """The service level is missed."""
    counts: list[str]
    """In the order of _REACH."""


_REACH: Final = (
    ReachResult.REACHED,
    ReachResult.FAILED,
    ReachResult.REJECTED,
    ReachResult.UNCONFIRMED,
    ReachResult.OPEN,
)
_WHOLE: Final = 100.0


def reach() -> Mapping[str, Any]:
    """Return the context of the part about the reach; without rows while there is no figure."""
    found = None
    with contextlib.suppress(state.Away):
        found = newest_reach.load()
    if found is None or not found.total:
        return {"rows": [], "columns": _REACH, "is_counted": found is not None}
    named = [(each.name, counts) for each, counts in found.of.items() if counts.total()]
    return {
        "rows": [_reach_row(*each) for each in (*named, ("All", found.total))],
        "columns": _REACH,
        "sampled": "" if found.percent >= _WHOLE else f"{found.percent:.2g} %",
    }


def _reach_row(name: str, counts: ReachCounts) -> ReachRow:
    reached, events = share(counts), event_share(counts)
    return ReachRow(
        name=name,
        share=words.number(reached, "share") if reached is None else f"{reached:.2%}",
        is_bad=events.bad >= REACHED.fewest_bad and events.share >= REACHED.budget,
        counts=[words.number(counts[each]) for each in _REACH],
    )


def failures(scope: Scope, names: Names) -> list[FailureRow]:
    """Return the parts of the traffic with failures: channels, providers, producers, types."""
    rows: list[FailureRow] = []
    for dimension in _PARTS:
        if dimension not in scope.filters:
            rows.extend(_of_dimension(scope, dimension, names))
    return rows


def _of_dimension(scope: Scope, dimension: Dimension, names: Names) -> Iterator[FailureRow]:
    failed = scope.totals("failed", dimension)
    sent = scope.totals("sent", dimension)
    worst = [(key, count) for key, count in failed.items() if count][:_WORST]
    span = scope.range.until - scope.range.since
    for key, count in worst:
        first, last = _first_and_last(scope.narrow(**{dimension.value: key[0]}))
        yield FailureRow(
            dimension=dimension,
            name=names.name(dimension, key[0]),
            url=names.url(dimension, key[0]),
            failed=words.number(count),
            share=words.number(count / (count + sent.get(key, 0)), "share"),
            first=words.instant(first, span),
            last=words.instant(last, span),
        )


def _first_and_last(scope: Scope) -> tuple[dt.datetime | None, dt.datetime | None]:
    points = scope.counts("failed")
    failing = [at for at, value in zip(points.at, points.only, strict=True) if value]
    return (failing[0], failing[-1]) if failing else (None, None)


def reactions(scope: Scope, dimension: Dimension, names: Names) -> list[ReactionRow]:
    """Return the values of a dimension with the most sent deliveries."""
    metrics = ("sent", "delivered", "read", "clicked", "failed", "cost")
    found = {metric: scope.totals(metric, dimension) for metric in metrics}
    keys = dict.fromkeys([*found["sent"], *found["failed"]])
    busy = [key for key in keys if found["sent"].get(key) or found["failed"].get(key)]
    rows = []
    for key in busy[:_ROWS]:
        counts = {metric: found[metric].get(key, 0) for metric in metrics}
        sent = counts["sent"]
        rows.append(
            ReactionRow(
                name=names.name(dimension, key[0]),
                url=names.url(dimension, key[0]),
                sent=words.number(sent),
                delivered=words.share_of(counts["delivered"], sent),
                read=words.share_of(counts["read"], sent),
                clicked=words.share_of(counts["clicked"], sent),
                failed=words.number(counts["failed"]),
                cost=words.number(counts["cost"], "money"),
            )
        )
    return rows
