"""The room of a lane is divided by weight, and its window follows the lane."""

from __future__ import annotations

import datetime as dt
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.features.bulk_jobs.rules import pace
from notifications.features.bulk_jobs.rules.pace import Demand

_ASKS = st.lists(
    st.tuples(st.integers(1, 100), st.one_of(st.floats(0, 1e6), st.just(math.inf))), max_size=8
).map(lambda each: [Demand(n, weight, wanted) for n, (weight, wanted) in enumerate(each)])


@given(room=st.floats(-10, 1e6), asks=_ASKS)
def test_nothing_is_given_beyond_the_room_and_the_wish_and_nothing_is_left_over(
    room: float, asks: list[Demand[int]]
) -> None:
    given_ = pace.divide_room(room, asks)
    wanted = {ask.key: ask.wanted for ask in asks}
    assert given_.keys() == wanted.keys()
    assert all(0 <= share <= wanted[key] for key, share in given_.items())
    expected = min(max(room, 0), sum(wanted.values()))
    assert sum(given_.values()) == pytest.approx(expected, rel=1e-9, abs=1e-6)


@given(room=st.floats(1, 1e6), asks=_ASKS)
def test_a_job_that_got_less_than_its_wish_got_its_weight(
    room: float, asks: list[Demand[int]]
) -> None:
    given_ = pace.divide_room(room, asks)
    short = [ask for ask in asks if given_[ask.key] < ask.wanted * (1 - 1e-9)]
    for ask in short:
        for other in asks:
            assert given_[other.key] / other.weight <= given_[ask.key] / ask.weight * (1 + 1e-6)


def test_weights_one_to_three_and_a_share_that_is_not_needed() -> None:
    asks = [Demand("a", 1, math.inf), Demand("b", 3, math.inf)]
    assert pace.divide_room(100, asks) == {"a": 25, "b": 75}
    assert pace.divide_room(100, [*asks, Demand("c", 100, 20)]) == {"a": 20, "b": 60, "c": 20}


def _window(
    last: int, waiting: int, behind: float = 0, wanted: float = math.inf, rated: float = 0
) -> int:
    late = dt.timedelta(seconds=behind)
    return pace.lane_window(
        last, waiting=waiting, behind=late, wanted=wanted, rated_per_second=rated
    )


def test_the_window_doubles_while_the_lane_empties_it() -> None:
    sizes = [_window(0, 0)]
    while sizes[-1] < pace.LARGEST_WINDOW:
        sizes.append(_window(sizes[-1], sizes[-1] // 4))
    assert len(sizes) <= 12  # seconds until the largest window
    assert sizes[0] == pace.SMALLEST_WINDOW


def test_the_window_of_a_slow_lane_shrinks_to_the_rows_of_the_longest_wait() -> None:
    # 10 rows a second leave: 6,000 rows wait for ten minutes
    assert _window(100_000, 6_000, behind=600) == 300
    assert _window(300, 300, behind=30) == 300


def test_the_window_holds_some_seconds_of_the_rates() -> None:
    assert _window(0, 0, wanted=50_000, rated=2_000) == 60_000
    assert _window(0, 0, wanted=6_000_000, rated=100_000) == pace.LARGEST_WINDOW
    assert _window(0, 50_000, behind=60, wanted=50_000, rated=2_000) == 60_000


def test_the_window_of_jobs_that_want_little_shrinks() -> None:
    assert _window(100_000, 0, wanted=10, rated=1) == 50_000
