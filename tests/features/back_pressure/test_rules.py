"""The limits of the lag: when posts are refused, and for how long."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from notifications.features.back_pressure import rules
from notifications.features.back_pressure.rules import DEFAULTS

_NONE = dt.timedelta(0)
_LIMITS = replace(DEFAULTS, refuse_waiting=1_000, refuse_behind=dt.timedelta(minutes=100))


@pytest.mark.parametrize(
    ("waiting", "minutes", "before_and_after"),
    [
        (1_000, 100, (False, False)),
        (1_001, 0, (False, True)),
        (0, 101, (False, True)),
        (801, 0, (True, True)),
        (800, 80, (True, False)),
        (0, 81, (True, True)),
    ],
)
def test_a_refusal_ends_at_a_lower_lag_than_it_began(
    waiting: int, minutes: int, before_and_after: tuple[bool, bool]
) -> None:
    before, after = before_and_after
    behind = dt.timedelta(minutes=minutes)
    refuses = rules.refuses
    assert refuses(_LIMITS, waiting=waiting, behind=behind, refused_before=before) is after


@pytest.mark.parametrize(
    ("waiting", "behind", "per_second", "seconds"),
    [
        (1_300, _NONE, 5.0, 100),  # 500 above the end of the refusal
        (1_300, _NONE, 500.0, 30),
        (1_300, _NONE, 0.0, 60),
        (10_000_000, _NONE, 5.0, 900),
        (0, dt.timedelta(minutes=81), 5.0, 60),
        (0, dt.timedelta(days=3), 0.0, 900),
    ],
)
def test_the_wait_follows_from_the_lag_and_the_rate_within_bounds(
    waiting: int, behind: dt.timedelta, per_second: float, seconds: int
) -> None:
    wait = rules.wait(_LIMITS, waiting=waiting, behind=behind, per_second=per_second)
    assert wait == dt.timedelta(seconds=seconds)


def test_jitter_makes_the_wait_longer_by_up_to_half() -> None:
    assert rules.with_jitter(60, chance=0.0) == dt.timedelta(seconds=60)
    assert rules.with_jitter(60, chance=0.99) == dt.timedelta(seconds=90)
