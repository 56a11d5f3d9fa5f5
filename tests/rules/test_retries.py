"""Delays stay inside what each preset promises, and give up when it says so."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules import retries
from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.retries import (
    LONGEST_URGENT_WAIT,
    PRESETS,
    Again,
    Jitter,
    Preset,
    next_try,
    preset_for,
)
from providers.contract import Channel

_LONG = dt.timedelta(days=60)
_CHANCE = st.floats(min_value=0, max_value=1, exclude_max=True)


def _delay(name: str, calls: int, chance: float, **options: dt.timedelta) -> float:
    ttl = options.get("time_to_live", _LONG)
    then = next_try(
        PRESETS[name],
        calls_made=calls,
        chance=chance,
        retry_after=options.get("retry_after"),
        time_to_live=ttl,
        is_urgent=False,
    )
    assert isinstance(then, Again)
    return then.delay.total_seconds()


@given(st.sampled_from(sorted(PRESETS)), st.integers(1, 6), _CHANCE)
def test_a_delay_is_never_over_its_cap_nor_under_its_jitter(
    name: str, calls: int, chance: float
) -> None:
    preset = PRESETS[name]
    if calls >= preset.attempts:
        return
    plain = preset.base * preset.multiplier ** (calls - 1)
    low = dt.timedelta(0) if preset.jitter is Jitter.FULL else min(plain, preset.cap * 0.8)
    assert low.total_seconds() <= _delay(name, calls, chance) <= preset.cap.total_seconds()


@pytest.mark.parametrize(
    ("name", "waits"),
    [
        ("worker", [(1, 2), (2, 4), (4, 8), (8, 16)]),
        ("service", [(1, 1.3), (2, 2.6), (4, 5.2), (8, 10.4)]),
        ("push", [(2, 3), (4, 5), (8, 9), (16, 17), (32, 33)]),
        ("plain", [(1, 1), (2, 2), (4, 4), (8, 8), (16, 16)]),
        ("critical", [(0, 2), (0, 8), (0, 32), (0, 128), (0, 300), (0, 300)]),
        ("low", [(0, 2), (0, 8)]),
    ],
)
def test_a_preset_waits_as_its_source_says(name: str, waits: list[tuple[float, float]]) -> None:
    nearly_one = 1 - 1e-9
    for calls, (low, high) in enumerate(waits, start=1):
        assert _delay(name, calls, 0.0) == pytest.approx(low, abs=0.05)
        assert _delay(name, calls, nearly_one) == pytest.approx(high, abs=0.25)
    after_last = next_try(
        PRESETS[name],
        calls_made=len(waits) + 1,
        chance=0.0,
        retry_after=None,
        time_to_live=_LONG,
        is_urgent=False,
    )
    assert after_last is Reason.RETRIES_EXHAUSTED


@given(st.integers(0, 3600), _CHANCE)
def test_the_providers_own_wait_wins_when_it_is_longer(seconds: int, chance: float) -> None:
    wait = dt.timedelta(seconds=seconds)
    assert _delay("worker", 1, chance, retry_after=wait) >= seconds


@given(st.floats(0.001, 10), _CHANCE)
def test_no_wait_is_begun_that_outlasts_the_time_to_live(ttl: float, chance: float) -> None:
    left = dt.timedelta(seconds=ttl)
    then = next_try(
        PRESETS["worker"],
        calls_made=2,
        chance=chance,
        retry_after=None,
        time_to_live=left,
        is_urgent=False,
    )
    assert then is Reason.TTL_EXCEEDED or (isinstance(then, Again) and then.delay < left)


@pytest.mark.parametrize(
    ("priority", "channel", "name"),
    [
        (Priority.P0, Channel.SMS, "critical"),
        (Priority.P1, Channel.PUSH, "service"),
        (Priority.P2, Channel.EMAIL, "worker"),
        (Priority.P2, Channel.PUSH, "push"),
        (Priority.P3, Channel.PUSH, "low"),
    ],
)
def test_a_lane_has_its_preset_unless_the_type_chose_one(
    priority: Priority, channel: Channel, name: str
) -> None:
    assert preset_for(priority, channel).name == name
    assert preset_for(priority, channel, chosen="plain").name == "plain"


@pytest.mark.parametrize("name", sorted(PRESETS))
@pytest.mark.parametrize("calls", [1, 2, 3, 4, 5, 6, 51])
def test_retries_that_failed_together_do_not_come_back_together(name: str, calls: int) -> None:
    preset = PRESETS[name]
    if calls >= preset.attempts or preset.jitter is Jitter.NONE:
        return
    drawn, used = Counter[int](), Counter[int]()
    for place in range(1_000):
        chance = place / 1_000
        delay = _delay(name, calls, chance)
        exact = _exact(preset, calls, chance)
        assert -1e-5 <= delay - exact <= 0.25 + 1e-5
        drawn[int(exact / 0.25)] += 1
        used[int(delay / 0.25)] += 1
    # Rounding may move a wait by one bucket. It must not gather waits that were drawn apart.
    fair_share = max(drawn.values())
    assert max(used.values()) <= fair_share * 1.2 + 1


def _exact(preset: Preset, calls: int, chance: float) -> float:
    """The wait before rounding, written a second time on purpose."""
    plain = preset.base.total_seconds() * min(preset.multiplier ** (calls - 1), 1e6)
    spread: float = {
        Jitter.NONE: plain,
        Jitter.DOUBLE: plain * (1 + chance),
        Jitter.THIRD: plain * (1 + 0.3 * chance),
        Jitter.SECOND: plain + chance,
        Jitter.FULL: plain * chance,
    }[preset.jitter]
    cap = preset.cap.total_seconds()
    if spread <= cap or preset.jitter is Jitter.NONE:
        return min(cap, spread)
    top = {Jitter.DOUBLE: plain * 2, Jitter.THIRD: plain * 1.3, Jitter.SECOND: plain + 1}
    lowest = cap if preset.jitter is Jitter.FULL else max(cap, plain)
    return cap * (0.8 + 0.2 * (spread - lowest) / (top.get(preset.jitter, plain) - lowest))


@pytest.mark.parametrize("name", ["patient", "critical", "worker"])
def test_waits_at_the_cap_are_spread_over_a_fifth_of_the_cap(name: str) -> None:
    preset = dataclasses.replace(PRESETS[name], attempts=60)
    waits = [retries.delay_after(preset, 50, chance=place / 1_000) for place in range(1_000)]
    cap = preset.cap
    near = [each for each in waits if each >= cap * 0.8]
    assert max(waits) <= cap
    assert len(near) > 900
    for tenth in range(10):
        low = cap * (0.8 + tenth * 0.02)
        assert 80 < sum(low <= each < low + cap * 0.02 for each in near) < 120


def test_a_timetable_names_the_shortest_and_the_longest_wait_of_each_retry() -> None:
    for preset in PRESETS.values():
        for each in retries.timetable(preset):
            waits = [
                retries.delay_after(preset, each.number, chance=place / 1_000)
                for place in range(1_001)
            ]
            assert min(waits) - each.shortest < preset.cap * 0.001
            assert each.shortest <= min(waits) <= max(waits) == each.longest


@given(st.integers(0, 3600), _CHANCE)
def test_a_vendors_minimum_wait_never_outlives_an_otp(seconds: int, chance: float) -> None:
    then = next_try(
        PRESETS["critical"],
        calls_made=1,
        chance=chance,
        retry_after=dt.timedelta(seconds=seconds),
        time_to_live=dt.timedelta(seconds=300),
        is_urgent=True,
    )
    assert isinstance(then, Again)
    assert then.delay <= LONGEST_URGENT_WAIT
