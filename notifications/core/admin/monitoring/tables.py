"""Tables and tiles of the monitoring pages, from the totals of a scope."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from notifications.core import conf
from notifications.core.admin.monitoring import words
from notifications.core.admin.monitoring.group_names import GroupNames
from notifications.core.admin.monitoring.scope import Scope
from notifications.core.rules.reach import ReachCounts, ReachResult, event_share, share
from notifications.core.rules.rollups import Dimension
from notifications.core.rules.service_levels import REACHED
from notifications.core.store.redis import reach as newest_reach
from notifications.core.store.redis import state

_WORST: Final = 3
"""Rows of each dimension in the table of failures."""
FAILURES: Final = ("failed", "bounced", "expired")
"""The metrics of which `failure_rate` is the share; the page counts them as one number."""
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
    """Failed, bounced and expired deliveries."""
    share: str
    """The failure rate."""
    first: str
    """The first point with a failure."""
    last: str


def tiles(scope: Scope) -> list[Tile]:
    """Return the tiles of a page."""
    found: list[TileSpec] = [
        ("Accepted", ("accepted",), "count", "deliveries that were asked for"),
        ("Sent", ("sent",), "count", "a provider took the message"),
        ("Delivered", ("delivered",), "count", "by receipts; not every provider gives receipts"),
        FAILED_TILE,
        ("Failure rate", ("failure_rate",), "share", "failed, bounced and expired"),
        ("Cost", ("cost",), "money", "of SMS and e-mail at list prices, in US dollars"),
    ]
    return tiles_of(found, scope)


TileSpec: TypeAlias = "tuple[str, tuple[str, ...], str, str]"
"""Name, metrics that are added up, unit and meaning of a tile."""
FAILED_TILE: Final[TileSpec] = (
    *("Failed or expired", FAILURES, "count"),
    "also bounced; see the dead letters",
)


def _tile(spec: TileSpec, scope: Scope, earlier: Scope | None) -> Tile:
    name, metrics, unit, meaning = spec
    value = scope.sum_of(metrics)
    return Tile(
        name=name,
        value=value,
        before=earlier.sum_of(metrics) if earlier else None,
        unit=unit,
        is_bad=metrics == ("failure_rate",) and (value or 0) > _tolerated_failures(),
        meaning=meaning,
    )


def tiles_of(specs: Sequence[TileSpec], scope: Scope) -> list[Tile]:
    """Return the tiles with the figures of the scope, and of the time before if they are kept."""
    earlier = scope.before()
    return [_tile(spec, scope, earlier) for spec in specs]


def _tolerated_failures() -> float:
    """Return the failure rate above which the alert `delivery_rate_low` is raised."""
    return 1 - conf.current().alert_thresholds.delivery_rate_low / 100


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


def failures(scope: Scope, names: GroupNames) -> list[FailureRow]:
    """Return the parts of the traffic with failures: channels, providers, producers, types."""
    rows: list[FailureRow] = []
    for dimension in _PARTS:
        if dimension not in scope.filters:
            rows.extend(_of_dimension(scope, dimension, names))
    return rows


def _of_dimension(scope: Scope, dimension: Dimension, names: GroupNames) -> Iterator[FailureRow]:
    failed = scope.sums(FAILURES, dimension)
    rates = scope.totals("failure_rate", dimension)
    worst = [(key, count) for key, count in failed.items() if count][:_WORST]
    span = scope.range.until - scope.range.since
    for key, count in worst:
        first, last = _first_and_last(scope.narrow(**{dimension.value: key[0]}))
        yield FailureRow(
            dimension=dimension,
            name=names.name(dimension, key[0]),
            url=names.url(dimension, key[0]),
            failed=words.number(count),
            share=words.number(rates.get(key), "share"),
            first=words.instant(first, span),
            last=words.instant(last, span),
        )


def _first_and_last(scope: Scope) -> tuple[dt.datetime | None, dt.datetime | None]:
    failing = {
        at
        for points in map(scope.counts, FAILURES)
        for at, value in zip(points.at, points.only, strict=True)
        if value
    }
    return (min(failing), max(failing)) if failing else (None, None)
