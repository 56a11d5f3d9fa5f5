"""Operators change thresholds of alerts by name; a mistake is named."""

from __future__ import annotations

import pytest

from notifications.core.rules.alert_thresholds import AlertThresholds
from notifications.core.rules.alerts import AlertKind


def test_named_thresholds_change_and_the_others_stay() -> None:
    found = AlertThresholds.parse(" delivery_rate_low=99 , processing_slow=800,")
    assert found == AlertThresholds(delivery_rate_low=99.0, processing_slow=800.0)
    assert AlertThresholds.parse("") == AlertThresholds()


def test_each_name_is_the_kind_of_an_alert() -> None:
    assert set(AlertThresholds._fields) <= {str(kind) for kind in AlertKind}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("delivery_rate=99", "the names are provider_failing, delivery_rate_low"),
        ("unknown_grow", "give unknown_grow a number above 0, at most 100"),
        ("unknown_grow=101", "at most 100"),
        ("unknown_grow=0", "above 0"),
        ("unknown_grow=nan", "a number above 0"),
        ("processing_slow=60001", "at most 60000"),
        ("unknown_grow=1,unknown_grow=2", "has unknown_grow twice"),
    ],
)
def test_a_mistake_is_named_with_what_is_possible(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        AlertThresholds.parse(text)
