"""Which deliveries can be withdrawn, and when a failed call is repeated."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core import clock
from notifications.core.rules import withdrawals as rules
from notifications.core.rules.states import Status
from notifications.core.rules.withdrawals import WithdrawalState
from providers.contract import Channel

_S = WithdrawalState
HOUR = dt.timedelta(hours=1)


@pytest.mark.parametrize(
    ("channel", "status", "outcomes", "past", "state"),
    [
        (Channel.PUSH, Status.SENT, ["accepted"], [], _S.WITHDRAWING),
        (Channel.PUSH, Status.READ, ["accepted"], [], _S.WITHDRAWING),
        (Channel.PUSH, Status.SENDING, [], [], _S.WITHDRAWING),
        (Channel.PUSH, Status.CANCELLED, ["unanswered"], [], _S.WITHDRAWING),
        (Channel.PUSH, Status.CANCELLED, ["unavailable"], [], _S.NOT_SENT),
        (Channel.PUSH, Status.FAILED, ["rejected"], [], _S.NOT_SENT),
        (Channel.PUSH, Status.SENT, ["accepted"], ["withdrawing", "withdrawn"], _S.WITHDRAWN),
        (Channel.PUSH, Status.SENT, ["accepted"], ["not_withdrawn"], _S.WITHDRAWING),
        (Channel.SMS, Status.DELIVERED, ["accepted"], [], _S.UNSUPPORTED),
        (Channel.SMS, Status.CANCELLED, [], [], _S.NOT_SENT),
    ],
)
def test_only_a_push_that_a_device_may_show_is_withdrawn(
    channel: Channel, status: Status, outcomes: list[str], past: list[str], state: _S
) -> None:
    found = rules.state_of(channel=channel, status=status, outcomes=outcomes, past=past)
    assert found is state
    assert found.sentence.endswith(".")


def test_tries_end_with_the_time_to_live_and_last_an_hour_at_least() -> None:
    now = clock.now()
    assert rules.ends_at(now=now, expires_at=now - HOUR) == now + HOUR
    assert rules.ends_at(now=now, expires_at=now + 5 * HOUR) == now + 5 * HOUR


def test_waits_grow_to_five_minutes_and_keep_to_the_wait_of_the_provider() -> None:
    for chance, expected in ((0.0, [5, 10, 20, 240]), (1.0, [6.5, 13, 26, 300])):
        waits = [
            rules.next_try(failures=each, retry_after=None, chance=chance) for each in (0, 1, 2, 40)
        ]
        assert [each.total_seconds() for each in waits] == expected
    assert rules.next_try(failures=0, retry_after=HOUR, chance=0.5) == HOUR


def test_calls_that_failed_together_are_not_repeated_together() -> None:
    for failures in (0, 3, 40):
        waits = {
            rules.next_try(failures=failures, retry_after=None, chance=place / 100)
            for place in range(100)
        }
        assert len(waits) == 100
