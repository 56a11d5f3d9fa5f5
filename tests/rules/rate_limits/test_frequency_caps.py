"""How caps are written, and whom they stop."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core.rules.lane import Priority
from notifications.core.rules.rate_limits import frequency_caps
from notifications.core.rules.rate_limits.frequency_caps import DEFAULTS, Cap, Over
from providers.contract import Channel


@pytest.mark.parametrize("text", ["3/day", "10/hour", "999999/day"])
def test_a_cap_is_written_as_it_is_read(text: str) -> None:
    assert str(Cap.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["0/day", "3", "3/week", "-1/day", "3/day\n", "٣/day", "1000000/day"]
)
def test_what_is_no_cap_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is an invalid cap"):
        Cap.parse(text)


def test_a_person_own_cap_comes_before_the_usual_one() -> None:
    own = {Channel.SMS: Cap(1, dt.timedelta(hours=1))}
    sms = frequency_caps.cap_for(Priority.P2, Channel.SMS, own=own, usual=DEFAULTS)
    push = frequency_caps.cap_for(Priority.P2, Channel.PUSH, own=own, usual=DEFAULTS)
    assert (str(sms), str(push)) == ("1/hour", "10/hour")


def test_a_code_is_not_even_counted_and_a_channel_without_a_cap_neither() -> None:
    assert frequency_caps.cap_for(Priority.P0, Channel.SMS, own={}, usual=DEFAULTS) is None
    assert frequency_caps.cap_for(Priority.P3, Channel.WEBHOOK, own={}, usual=DEFAULTS) is None


def test_who_is_stopped_by_a_full_window() -> None:
    assert [frequency_caps.OVER[priority] for priority in Priority] == [
        Over.LEAVES,
        Over.LEAVES,
        Over.WAITS,
        Over.DROPPED,
    ]
