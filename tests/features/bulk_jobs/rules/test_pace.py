"""The slots of a bulk job: no slot is used twice, none is left out, and a gap is not caught up."""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.features.bulk_jobs.rules import pace

_NOW = dt.datetime(2026, 3, 28, 23, 59, 30, tzinfo=dt.UTC)
_SECOND = dt.timedelta(seconds=1)
_MICROSECOND = dt.timedelta(microseconds=1)
_RATES = st.floats(min_value=0.001, max_value=10_000)
_LOW = st.floats(min_value=0.001, max_value=50)


def _job(
    rate: float | None = None, spread: int | None = None, estimate: int | None = None
) -> SimpleNamespace:
    return SimpleNamespace(rate_per_second=rate, spread_seconds=spread, estimate=estimate)


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (_job(rate=5 / 60), 5 / 60),
        (_job(spread=36_000, estimate=5_000_000), 138.889),
        (_job(spread=3_600), None),
        (_job(), None),
    ],
)
def test_the_rate_is_given_or_follows_from_the_estimate_and_the_time(
    job: SimpleNamespace, expected: float | None
) -> None:
    assert pace.rate(job, ceiling=None) == (expected and pytest.approx(expected, rel=1e-5))


@given(rate=_RATES, counts=st.lists(st.integers(0, 300), min_size=1, max_size=10))
def test_pages_take_slots_one_after_the_other_at_the_rate(rate: float, counts: list[int]) -> None:
    next_at: dt.datetime | None = None
    times: list[dt.datetime] = []
    for count in counts:
        taken, next_at = pace.take(next_at, count, slots=count, per_second=rate, now=_NOW)
        assert len(taken) == count
        times += taken
    assert times == sorted(times)
    for place, time in enumerate(times):
        exact = _NOW + dt.timedelta(seconds=place / rate)
        assert abs(time - exact) <= len(counts) * _MICROSECOND


@given(rate=_LOW, late=st.floats(0, 1e6))
def test_after_a_gap_the_slots_go_on_with_a_small_burst(rate: float, late: float) -> None:
    now = _NOW + dt.timedelta(seconds=late)
    free = pace.free_slots(_NOW, per_second=rate, now=now)
    assert free <= (pace.WINDOW + pace.BURST) / _SECOND * rate + 1
    times, _ = pace.take(_NOW, free, slots=free, per_second=rate, now=now)
    assert times[0] >= now - pace.BURST
    assert times[-1] < now + pace.WINDOW
    overdue = [time for time in times if time < now]
    assert len(overdue) <= pace.BURST / _SECOND * rate + 1


@given(rate=_LOW, ahead=st.floats(0, 100_000))
def test_no_message_is_created_beyond_the_window(rate: float, ahead: float) -> None:
    next_at = _NOW + dt.timedelta(seconds=ahead)
    free = pace.free_slots(next_at, per_second=rate, now=_NOW)
    times, _ = pace.take(next_at, free, slots=free, per_second=rate, now=_NOW)
    assert all(time < _NOW + pace.WINDOW for time in times)


@given(count=st.integers(0, 5_000), left_out=st.integers(0, 5_000))
def test_recipients_who_are_left_out_use_slots_of_a_spread_job(count: int, left_out: int) -> None:
    slots = count + left_out
    times, next_at = pace.take(None, count, slots=slots, per_second=100, now=_NOW)
    assert abs(next_at - _NOW - dt.timedelta(seconds=slots / 100)) <= _MICROSECOND
    gaps = {later - earlier for earlier, later in itertools.pairwise(times)}
    assert not gaps or max(gaps) - min(gaps) <= _MICROSECOND


@dataclasses.dataclass(frozen=True)
class _Job:
    rate_per_second: float | None = None
    spread_seconds: int | None = None
    estimate: int | None = 1_000_000


@pytest.mark.parametrize(
    ("job", "rate", "is_limited"),
    [
        (_Job(), 100.0, True),
        (_Job(rate_per_second=5_000), 100.0, True),
        (_Job(rate_per_second=50), 50.0, False),
        (_Job(spread_seconds=3_600), 100.0, True),
        (_Job(spread_seconds=100_000), 10.0, False),
        (_Job(spread_seconds=3_600, estimate=None), 100.0, True),
    ],
)
def test_no_job_is_faster_than_the_ceiling(job: _Job, rate: float, *, is_limited: bool) -> None:
    assert pace.rate(job, ceiling=100) == rate
    assert pace.is_limited(job, ceiling=100) is is_limited
    assert not pace.is_limited(job, ceiling=None)


def test_without_a_ceiling_a_job_has_the_rate_of_its_request() -> None:
    assert pace.rate(_Job(), ceiling=None) is None
    assert pace.rate(_Job(rate_per_second=5_000), ceiling=None) == 5_000
