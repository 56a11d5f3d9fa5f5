"""The time range of a page is in the URL, and the number of points is bounded."""

from __future__ import annotations

import datetime as dt
from urllib.parse import parse_qsl

import pytest

from notifications.core.rules.times import time_range
from notifications.core.rules.times.time_range import RANGES, TimeRange

NOW = dt.datetime(2026, 11, 23, 15, 7, 31, tzinfo=dt.UTC)


def read(query: str) -> TimeRange:
    return time_range.read(dict(parse_qsl(query)), now=NOW)


@pytest.mark.parametrize("name", RANGES)
def test_each_range_has_a_bounded_number_of_points(name: str) -> None:
    found = read(f"range={name}")
    assert found.is_live
    assert 10 <= (found.until - found.since) / found.step <= 100
    assert dt.timedelta(days=1) % found.step == dt.timedelta(0)
    assert found.query == f"range={name}"


def test_a_fixed_time_is_kept_in_the_query() -> None:
    found = read("from=2026-01-02T10:00&to=2026-01-02T12:00:00%2B01:00")
    assert not found.is_live
    assert found.until - found.since == dt.timedelta(hours=1)
    assert read(found.query) == found


@pytest.mark.parametrize(
    "query",
    [
        *("range=2h", "from=yesterday", "to=x", "from=2025-01-01T00:00Z&to=2026-11-01T00:00Z"),
        "from=2024-11-21T23:59Z&to=2024-11-22T01:00Z",
    ],
)
def test_a_wrong_range_is_refused_with_a_sentence(query: str) -> None:
    with pytest.raises(ValueError, match=r"use|may"):
        read(query)
