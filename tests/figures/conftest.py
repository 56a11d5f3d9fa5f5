"""Roll-ups of given counts, and the rows of the pipeline."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from notifications.core.models import Rollup, RollupLatency, RollupSeries
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.rollups import CUBES, DIGITS, Dimension, DimensionSet, Latency
from providers.contract import Channel

MakeRollup = Callable[..., None]


def sketch_of(bins: Mapping[int, int]) -> int:
    """Return the stored sketch of counts by bin."""
    return sum(count * 10 ** (DIGITS * number) for number, count in bins.items())


_ALL = {
    "mode": Mode.LIVE,
    "producer_id": 1,
    "channel": Channel.SMS,
    "provider": "twilio",
    "priority": Priority.P1,
    "type": "ORDER",
    "template": "order",
    "version": 2,
    "country": "DE",
    "reason": "",
}


@pytest.fixture
def make_rollup(db: None) -> MakeRollup:  # noqa: ARG001 - pytest-django asks for it by name
    """Store counts of an instant in each cube, as the sweep does."""
    return _store


def _store(
    at: dt.datetime,
    counts: dict[str, int],
    *,
    sketches: dict[Latency, dict[int, int]] | None = None,
    **dimensions: Any,  # noqa: ANN401 - columns
) -> None:
    for cube in CUBES:
        kept = {Dimension.MODE, Dimension.CHANNEL, Dimension.REASON}
        kept |= cube.dimension_set.extras
        columns = {each.column for each in kept}
        channel = dimensions.get("channel", Channel.SMS)
        if cube.dimension_set is DimensionSet.ALL and channel is not Channel.SMS:
            columns.remove("country")
        empty = {"priority": -1, "version": 0, "producer_id": 0}
        values: dict[str, Any] = {
            name: value if name in columns else empty.get(name, "")
            for name, value in {**_ALL, **dimensions}.items()
        }
        series, _ = RollupSeries.objects.get_or_create(dimension_set=cube.dimension_set, **values)
        row, _ = Rollup.objects.get_or_create(
            cube=cube.number, series=series, bucket=cube.step.floor(at)
        )
        for name, number in counts.items():
            setattr(row, name, (getattr(row, name) or 0) + number)
        row.save()
        if not cube.dimension_set.has_latencies:
            continue
        for kind, bins in (sketches or {}).items():
            latency, _ = RollupLatency.objects.get_or_create(
                cube=cube.number,
                series=series,
                kind=kind,
                bucket=cube.step.floor(at),
                defaults={"sketch": 0},
            )
            latency.sketch += sketch_of(bins)
            latency.save()
