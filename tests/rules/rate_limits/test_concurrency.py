"""The adaptive limit, against simulated providers that serve some calls and queue the others."""

from __future__ import annotations

import heapq
from collections import deque
from math import inf
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notifications.core.rules.rate_limits.concurrency import CEILING, START, Call, Ending, Limit
from tests import examples

GOLDEN: Final = 0.618034
"""Its multiples are spread evenly over [0, 1) and look as if by chance."""


class Served:
    """A provider that serves `servers` calls at once, first come, first served."""

    def __init__(
        self, limit: Limit, *, servers: int, seconds: float, spread: float, own_delay: float = 0.0
    ) -> None:
        self.limit, self.own_delay = limit, own_delay
        self.servers, self.seconds, self.spread = servers, seconds, spread
        self.now = 1_000.0
        self.ended: deque[float] = deque()
        self._served = 0
        self._waiting: deque[float] = deque()
        self._serving: list[tuple[float, float]] = []
        self._answers: deque[tuple[float, float]] = deque()
        """Times at which our process handles answers, and the seconds of their calls."""

    @property
    def capacity(self) -> float:
        """Calls a second."""
        return self.servers / self.seconds

    @property
    def in_it(self) -> int:
        """Calls that are served or wait at the provider."""
        return len(self._serving) + len(self._waiting)

    def run(self, seconds: float, *, demand: int = CEILING) -> float:
        """Call as often as the limit allows; returns calls a second."""
        until, before = self.now + seconds, len(self.ended)
        while True:
            while self.limit.in_flight < min(self.limit.value, demand):
                self.limit.record_start(1)
                self._waiting.append(self.now)
            while self._waiting and len(self._serving) < self.servers:
                self._served += 1
                takes = self.seconds * (1 + self.spread * (2 * (GOLDEN * self._served % 1) - 1))
                heapq.heappush(self._serving, (self.now + takes, self._waiting.popleft()))
            answer_at = self._answers[0][0] if self._answers else inf
            ends_at = self._serving[0][0] if self._serving else inf
            self.now = min(answer_at, ends_at, until)
            if self.now == until:
                return (len(self.ended) - before) / seconds
            if ends_at < answer_at:
                _, began = heapq.heappop(self._serving)
                self.ended.append(self.now)
                self._answers.append((self.now + self.own_delay, self.now - began))
            else:
                call = Call(Ending.ANSWERED, self._answers.popleft()[1], self.own_delay)
                self.limit.record_end(1, [call], now=self.now)


@settings(max_examples=examples.at_most(40))
@given(
    servers=st.integers(1, 400),
    seconds=st.floats(0.02, 0.5),
    spread=st.floats(0, 0.4),
)
def test_it_finds_what_a_provider_of_fixed_capacity_can_serve(
    servers: int, seconds: float, spread: float
) -> None:
    provider = Served(Limit(), servers=servers, seconds=seconds, spread=spread)
    provider.run(20 * seconds + 2)
    assert provider.run(max(5.0, 60 * seconds)) >= 0.8 * provider.capacity


# Without any spread all calls of a window end at one instant, and the model resonates: 9 times the
# capacity for a moment. No network answers so evenly.
@settings(max_examples=examples.at_most(20))
@given(
    servers=st.integers(100, 400),
    seconds=st.floats(0.05, 0.3),
    spread=st.floats(0.02, 0.4),
    own_delay=st.sampled_from([0.0, 0.25]),
)
def test_it_does_not_pile_up_a_queue_at_the_provider(
    servers: int, seconds: float, spread: float, own_delay: float
) -> None:
    limit = Limit()
    provider = Served(limit, servers=servers, seconds=seconds, spread=spread, own_delay=own_delay)
    provider.run(20)
    peak = 0
    for _ in range(40):
        provider.run(seconds)
        peak = max(peak, provider.in_it)
    # At slow providers of little capacity one doubling reaches 6.3 times the capacity for a moment.
    assert peak <= 8 * servers


@settings(max_examples=examples.at_most(20))
@given(servers=st.integers(80, 400), seconds=st.floats(0.05, 0.3), loss=st.integers(4, 10))
def test_it_shrinks_within_a_few_round_trips_when_capacity_is_lost(
    servers: int, seconds: float, loss: int
) -> None:
    limit = Limit()
    provider = Served(limit, servers=servers, seconds=seconds, spread=0.3)
    provider.run(10)
    before = limit.value
    provider.servers = servers // loss
    provider.run(4 * seconds * before / provider.servers)  # four of the slow round trips
    assert limit.value <= before / 2 + 2  # whole calls, and a step up
    provider.run(20 * seconds * before / provider.servers)
    assert limit.value <= 4.5 * max(START, provider.servers)
    assert provider.run(10) >= 0.8 * provider.capacity


def test_it_recovers_after_a_provider_has_become_slower_for_good() -> None:
    provider = Served(Limit(), servers=200, seconds=0.1, spread=0.3)
    provider.run(10)
    provider.seconds = 0.5
    provider.run(30)
    assert provider.run(10) >= 0.8 * provider.capacity


@pytest.mark.parametrize(("before", "after"), [(0.002, 0.15), (0.05, 0.4)])
def test_it_soon_finds_that_a_provider_is_slower_without_a_queue(
    before: float, after: float
) -> None:
    provider = Served(Limit(ceiling=200), servers=400, seconds=before, spread=0.3)
    provider.run(3)
    provider.seconds = after
    provider.run(5 * after)
    assert provider.run(5) >= 0.8 * 200 / after


def test_a_queue_that_grows_while_the_limit_is_halved_is_not_a_slower_provider() -> None:
    limit = Limit()
    now = 0.0
    for _ in range(20):
        now += 1
        _round(limit, now, kinds={Ending.ANSWERED: 1})
    before = limit.value
    # The first calls wait for a part of the new queue only, and the third for half of the second's.
    for seconds in (1.0, 1.2, 0.6):
        now += seconds + 0.01
        _round(limit, now, kinds={Ending.ANSWERED: 1}, seconds=seconds)
    assert limit.value <= before / 8


@pytest.mark.parametrize("servers", [5, 20])
def test_answers_of_one_millisecond_reach_five_thousand_a_second(servers: int) -> None:
    provider = Served(Limit(), servers=servers, seconds=0.001, spread=0.5)
    assert provider.run(1) >= 0.9 * provider.capacity
    assert provider.capacity >= 5_000


@pytest.mark.parametrize(
    "slow", [Call(Ending.ANSWERED, 0.02), Call(Ending.ANSWERED, 0.001, own_delay=0.25)]
)
def test_a_delay_of_our_own_processor_does_not_shrink_it(slow: Call) -> None:
    limit = Limit()
    now = 0.0
    for _ in range(100):
        now += 0.5
        count = limit.value
        limit.record_start(count)
        calls = [Call(Ending.ANSWERED, 0.001) if i % 5 == 0 else slow for i in range(count)]
        limit.record_end(count, calls, now=now)
    assert limit.value == CEILING


def test_calls_do_not_wait_in_our_own_process_until_their_deadline() -> None:
    limit = Limit(start=CEILING)
    now = 0.0
    for _ in range(200):
        seconds = limit.value * 0.002  # our process takes two milliseconds for each call
        now += seconds + 0.01
        count = limit.value
        limit.record_start(count)
        call = Call(Ending.ANSWERED, 0.001, own_delay=seconds)
        limit.record_end(count, [call] * count, now=now)
    assert 100 <= limit.value <= 400


def _round(limit: Limit, now: float, *, kinds: dict[Ending, float], seconds: float = 0.1) -> None:
    """One round of as many calls as the limit allows; `kinds` are shares."""
    count = limit.value
    limit.record_start(count)
    calls: list[Call] = []
    for ending, share in kinds.items():
        calls += [Call(ending, seconds)] * round(share * count)
    limit.record_end(count, calls, now=now)


@pytest.mark.parametrize("ending", [Ending.THROTTLED, Ending.TIMED_OUT])
def test_a_provider_that_refuses_or_is_silent_gets_one_call_at_a_time(ending: Ending) -> None:
    limit = Limit()
    now = 0.0
    for _ in range(20):
        now += 1
        _round(limit, now, kinds={Ending.ANSWERED: 1})
    before = limit.value
    now += 10
    _round(limit, now, kinds={ending: 1}, seconds=0.2)
    assert limit.value <= before / 2 + 2  # whole calls, and a step up
    for _ in range(100):
        now += 1
        _round(limit, now, kinds={ending: 1}, seconds=0.2)
    assert limit.value == 1


def test_a_fifth_throttled_at_random_leaves_more_than_one_call() -> None:
    limit = Limit()
    now = 0.0
    for _ in range(300):
        now += 0.2
        _round(limit, now, kinds={Ending.ANSWERED: 0.8, Ending.THROTTLED: 0.2})
    assert limit.value >= 4


def test_calls_that_did_not_start_or_found_no_server_change_nothing() -> None:
    limit = Limit()
    for second in range(50):
        _round(limit, second * 1.0, kinds={Ending.NOTHING: 1})
    assert limit.value == START
    assert limit.in_flight == 0


def test_calls_of_before_a_change_do_not_change_it_again() -> None:
    limit = Limit(ceiling=100)
    now = 10.0
    limit.record_start(START)
    limit.record_end(START, [Call(Ending.ANSWERED, 0.1)] * START, now=now)
    grown = limit.value
    assert grown == 2 * START
    limit.record_start(START)
    limit.record_end(START, [Call(Ending.ANSWERED, 0.5)] * START, now=now + 0.4)
    assert limit.value == grown
    limit.record_start(START)
    late = Call(Ending.ANSWERED, 0.3, own_delay=0.2)
    limit.record_end(START, [late] * START, now=now + 0.4)
    assert limit.value == grown


def test_it_finds_a_provider_that_slows_while_our_own_process_is_slow() -> None:
    provider = Served(Limit(), servers=100, seconds=0.05, spread=0.3, own_delay=0.2)
    provider.run(20)
    before = provider.in_it
    provider.seconds = 0.8
    provider.run(4 * 0.8 * before / 100 + 10)
    assert provider.in_it <= 4.5 * 100
    assert provider.run(10) >= 0.8 * provider.capacity


def test_it_does_not_grow_while_it_is_not_used() -> None:
    limit = Limit()
    for second in range(100):
        limit.record_start(5)
        limit.record_end(5, [Call(Ending.ANSWERED, 0.1)] * 5, now=second * 1.0)
    assert limit.value == START


def test_slow_answers_to_little_traffic_do_not_shrink_it() -> None:
    limit = Limit()
    for second in range(100):
        limit.record_start(5)
        limit.record_end(
            5, [Call(Ending.ANSWERED, 0.1 if second < 50 else 3.0)] * 5, now=second * 4.0
        )
    assert limit.value == START


@given(
    ceiling=st.integers(1, 50),
    calls=st.lists(
        st.tuples(st.sampled_from(Ending), st.floats(0, 100), st.floats(0, 100)), max_size=300
    ),
)
def test_it_stays_between_one_and_the_ceiling_whatever_happens(
    ceiling: int, calls: list[tuple[Ending, float, float]]
) -> None:
    limit = Limit(ceiling=ceiling)
    now = 0.0
    for ending, seconds, pause in calls:
        now += pause
        limit.record_start(limit.value)
        limit.record_end(limit.value, [Call(ending, seconds)] * 7, now=now)
        assert 1 <= limit.value <= ceiling
