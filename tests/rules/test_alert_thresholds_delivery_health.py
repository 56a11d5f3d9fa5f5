"""An alert about a share starts above one threshold and ends below another."""

from __future__ import annotations

import pytest

from notifications.core.rules.alert_thresholds import CallShare, is_failing, is_low
from notifications.core.rules.service_levels import EventShare


@pytest.mark.parametrize(
    ("calls", "failed", "starts", "lasts"),
    [
        (19, 19, False, False),  # too few calls
        (20, 11, True, True),
        (20, 10, False, True),
        (100, 41, False, True),
        (100, 40, False, False),
        (0, 0, False, False),
    ],
)
def test_a_provider_is_failing(calls: int, failed: int, *, starts: bool, lasts: bool) -> None:
    found = CallShare(calls, failed)
    assert is_failing(found, 50, before=False) is starts
    assert is_failing(found, 50, before=True) is lasts


@pytest.mark.parametrize(
    ("good", "bad", "starts", "lasts"),
    [
        (20, 4, False, False),  # too few failures
        (20, 5, True, True),
        (994, 6, True, True),
        (1_194, 6, False, True),
        (1_994, 6, False, False),
        (0, 0, False, False),
    ],
)
def test_a_delivery_rate_is_low(good: int, bad: int, *, starts: bool, lasts: bool) -> None:
    found = EventShare(good, bad)
    assert is_low(found, 99.5, before=False) is starts
    assert is_low(found, 99.5, before=True) is lasts
