"""The memory of an export does not grow with the day."""

from __future__ import annotations

import datetime as dt
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from notifications.core import clock, conf
from notifications.features.archive import export, keys, rows
from notifications.features.archive.rows import Day
from tests.old_days import drop_day
from tests.past_rows import fill

_SMALL, _LARGE = 4_000, 20_000
_MORE = 1.5
"""Greatest ratio of the peaks; the days differ by a factor of five."""


@pytest.fixture
def two_days(transactional_db: None) -> Iterator[tuple[dt.date, dt.date]]:  # noqa: ARG001 - pytest-django asks for it by name
    """A small and a large day past retention."""
    latest = clock.now().date() - conf.current().retention - dt.timedelta(days=2)
    days = (latest, latest - dt.timedelta(days=1))
    for day, count in zip(days, (_SMALL, _LARGE), strict=True):
        fill(day, notifications=count, people=50)
    yield days
    for day in days:
        drop_day(day)


def _peaks(of: Day, folder: Path) -> tuple[int, int]:
    """Return the peaks of Python and of pyarrow in bytes."""
    pool, before = pa.proxy_memory_pool(pa.system_memory_pool()), pa.default_memory_pool()
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        for table in ("notification", "event"):
            export.write(table, of, folder)
        return tracemalloc.get_traced_memory()[1], pool.max_memory() or 0
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)


def test_the_memory_of_an_export_does_not_grow_with_the_day(
    two_days: tuple[dt.date, dt.date], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "BLOCK_BYTES", 100_000)
    monkeypatch.setattr(export, "_KEYS_SORTED", 500)
    keys.create_missing(Day(two_days[0]))
    small, large = (_peaks(Day(day), tmp_path) for day in two_days)
    assert min(small) > 0
    assert large[0] < _MORE * small[0], (small, large)
    assert large[1] < _MORE * small[1], (small, large)
