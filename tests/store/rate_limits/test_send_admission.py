"""In any time t at most burst + rate * t calls get a slot, and OTPs do not wait for others."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, cast

import pytest
from django.db import connection
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from notifications.core import clock
from notifications.core.models import ProviderPace
from notifications.core.rules.lane import Priority
from notifications.core.rules.rate_limits.circuit_breaker import BreakerState, HealthKey
from notifications.core.rules.rate_limits.token_bucket import AHEAD
from notifications.core.store.cached import provider_overrides
from notifications.core.store.rate_limits import circuit_breakers, send_admission
from notifications.core.store.rate_limits.send_admission import Admission, AdmissionRequest
from notifications.core.store.redis import state
from providers.contract import Channel, Pace

TEN: Final = Pace(burst=100, per_second=10)
KEY: Final = HealthKey("acme", Channel.SMS)
NOTHING: Final = dt.timedelta(0)


@pytest.fixture(autouse=True)
def _fresh(db: None) -> Iterator[None]:  # noqa: ARG001 - pytest-django asks for it by name
    state.client().flushdb()
    for each in (circuit_breakers, provider_overrides):
        each.forget()
    yield
    provider_overrides.forget()


@pytest.fixture
def _redis_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> object:
        raise state.Away

    monkeypatch.setattr(state, "call", away)


def _ask(count: int, priority: Priority = Priority.P0, pace: Pace | None = TEN) -> Admission:
    wanted = AdmissionRequest(key=KEY, priority=priority, count=count, pace=pace)
    [answer] = send_admission.check([wanted])
    return answer


def _slots(answer: Admission) -> list[float]:
    assert answer.slots is not None
    return [each.total_seconds() for each in answer.slots]


def test_without_a_pace_everything_goes_now() -> None:
    answer = _ask(500, pace=None)
    assert (answer.state, answer.slots) == (BreakerState.CLOSED, None)
    assert state.client().keys() == []


def test_a_burst_goes_now_and_the_rest_at_the_pace() -> None:
    slots = _slots(_ask(120))
    assert slots[:100] == [0.0] * 100
    assert slots[100:] == pytest.approx([0.1 * (place + 1) for place in range(20)], abs=0.02)


def test_the_patient_get_four_fifths_and_two_seconds_ahead() -> None:
    answer = _ask(500, Priority.P3)
    slots = _slots(answer)
    assert slots.count(0.0) == 80
    assert len(slots) == 80 + 16  # two seconds at eight a second
    assert max(slots) <= AHEAD[Priority.P3].total_seconds()
    assert answer.spacing == dt.timedelta(seconds=0.125)
    assert answer.next_slot.total_seconds() == pytest.approx(2.125, abs=0.02)
    assert _slots(_ask(500, Priority.P2)) == []


def test_the_urgent_do_not_queue_behind_the_patient() -> None:
    _ask(500, Priority.P3)
    assert _slots(_ask(15)) == [0.0] * 15


def test_p1_does_not_reserve_so_far_ahead_that_an_otp_must_wait_for_it() -> None:
    _ask(500, Priority.P1)
    [slot] = _slots(_ask(1))
    assert slot <= AHEAD[Priority.P1].total_seconds() + 0.2


def test_the_patient_leave_the_urgents_rate_alone() -> None:
    _ask(100)
    answer = _ask(5, Priority.P2)
    assert _slots(answer) == []
    assert answer.next_slot > NOTHING


def test_what_an_operator_has_set_wins() -> None:
    ProviderPace.objects.create(provider="acme", burst=3, per_second=1)
    provider_overrides.forget()
    assert _slots(_ask(5)) == pytest.approx([0, 0, 0, 1, 2], abs=0.05)
    assert _slots(_ask(1, pace=None)) == pytest.approx([3], abs=0.05)


def test_one_call_asks_for_several_providers() -> None:
    wanted = [
        AdmissionRequest(
            key=HealthKey(name, Channel.SMS), priority=Priority.P0, count=count, pace=pace
        )
        for name, count, pace in (("one", 5, TEN), ("two", 200, None), ("three", 2, TEN))
    ]
    answers = send_admission.check(wanted)
    assert [each.slots and len(each.slots) for each in answers] == [5, None, 2]


@pytest.mark.usefixtures("_redis_is_away")
def test_without_redis_everything_goes_now() -> None:
    answer = _ask(500, Priority.P2)
    assert (answer.state, answer.slots) == (BreakerState.CLOSED, None)


def test_eight_callers_at_once_never_get_more_than_burst_and_rate() -> None:
    pace = Pace(burst=50, per_second=500)
    enough = 80  # of each caller: together more than the burst, so that the rate binds

    def caller(number: int) -> list[tuple[float, float]]:
        """Each slot between the two instants that it may stand for."""
        got: list[tuple[float, float]] = []
        while len(got) < enough:
            before = clock.monotonic()
            answer = _ask(7, Priority(number % 4), pace)
            after = clock.monotonic()
            got += [(before + slot, after + slot) for slot in _slots(answer)]
        connection.close()
        return got

    with ThreadPoolExecutor(8) as pool:
        spans = [span for found in pool.map(caller, range(8)) for span in found]
    starts, ends = sorted({low for low, _ in spans}), sorted({high for _, high in spans})
    for start, end in itertools.product(starts[:: len(starts) // 50], ends[:: len(ends) // 50]):
        inside = sum(start <= low and high <= end for low, high in spans)
        if start < end:
            assert inside <= pace.burst + pace.per_second * (end - start) + 1e-3


class _Turned:
    """The same script on a clock that a test turns."""

    def __init__(self) -> None:
        text = (Path(state.__file__).parent / "lua" / "depart.lua").read_text()
        assert text.count("redis.call('TIME')") == 1
        self._script = state.client().register_script(
            text.replace("redis.call('TIME')", "{tonumber(ARGV[#ARGV]), 0}")
        )
        self.now = 1_800_000_000.0

    def ask(self, count: int, *, is_urgent: bool, pace: Pace) -> Sequence[float]:
        """Absolute instants, in seconds."""
        cost = 1_000_000 / pace.per_second
        asked: list[bytes | str | int] = [
            count,
            count,
            int(is_urgent),
            2_000_000,
            str(cost),
            pace.burst,
            "",
            "",
            1,
            0,
        ]
        keys = ["", "bucket:turned", "pace:turned"]
        arguments: list[bytes | str | int] = [send_admission.SHARED, *asked, str(self.now)]
        answers = self._script(keys=keys, args=arguments)
        [[*_, given]] = cast("list[list[list[int]]]", answers)
        return [self.now + each / 1_000_000 for each in given]


@given(
    pace=st.builds(
        Pace,
        burst=st.integers(1, 60),
        per_second=st.sampled_from([0.5, 3.0, 10.0, 80.0, 400.0]),
    ),
    asks=st.lists(
        st.tuples(st.floats(0, 3), st.integers(1, 80), st.booleans()), min_size=1, max_size=25
    ),
)
@example(pace=Pace(burst=1, per_second=10), asks=[(0, 6, False), (0, 1, True)])
@example(pace=Pace(burst=1, per_second=3), asks=[(0, 1, False), (0, 1, False), (0, 2, True)])
@example(pace=Pace(burst=2, per_second=3), asks=[(0, 5, False), (0, 1, True), (2, 2, True)])
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_in_any_order_of_asks_no_time_is_overfull(
    pace: Pace, asks: list[tuple[float, int, bool]]
) -> None:
    state.client().flushdb()
    bucket = _Turned()
    slots: list[float] = []
    for pause, count, is_urgent in asks:
        bucket.now += pause
        slots += bucket.ask(count, is_urgent=is_urgent, pace=pace)
    slots.sort()
    # In the bucket that the vendor keeps: full at the beginning, one out for each call.
    left, before = float(pace.burst), slots[0] if slots else 0.0
    for slot in slots:
        left = min(pace.burst, left + (slot - before) * pace.per_second) - 1
        before = slot
        assert left > -0.01
