"""A chain goes on when its channel has ended, and opens each channel once."""

from __future__ import annotations

import datetime as dt
from uuid import UUID

import pytest

from notifications.core.rules import fallback, transitions
from notifications.core.rules.fallback import CallHistory, ChainStep, FallbackOn, Member
from notifications.core.rules.lane import Priority
from notifications.core.rules.outcomes import Decision
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import Transition
from providers.contract import Channel

S = Status
SECOND = dt.timedelta(seconds=1)
PUSH, SMS, EMAIL = Channel.PUSH, Channel.SMS, Channel.EMAIL


def member(number: int, channel: Channel, status: Status) -> Member:
    return Member(UUID(int=number), channel, status, is_open=True)


def advance(
    *others: Member, urgent: bool = True, has_next: bool = True, is_window: bool = False
) -> ChainStep:
    first = member(1, PUSH, S.SENDING)
    return fallback.advance(
        [first, *others],
        channel=PUSH,
        triggered={first.id},
        is_urgent=urgent,
        has_next=has_next,
        is_window=is_window,
    )


def test_a_single_failed_delivery_opens_the_next_channel() -> None:
    assert advance() is ChainStep.NEXT
    assert advance(has_next=False) is ChainStep.STAY


@pytest.mark.parametrize("status", [S.DELIVERED, S.READ])
def test_a_recipient_that_was_reached_ends_the_chain(status: Status) -> None:
    assert advance(member(2, PUSH, status)) is ChainStep.STAY
    assert advance(member(0, SMS, status)) is ChainStep.END
    assert advance(member(0, SMS, status), is_window=True) is ChainStep.STAY


@pytest.mark.parametrize("status", [S.QUEUED, S.SENDING, S.SENT, S.UNKNOWN])
def test_a_device_on_its_way_keeps_the_channel_open(status: Status) -> None:
    other = member(2, PUSH, status)
    assert advance(other) is ChainStep.STAY
    assert advance(other, is_window=True) is ChainStep.END


def test_a_device_accepted_for_good_ends_the_chain() -> None:
    other = member(2, PUSH, S.SENT)._replace(is_open=False)
    assert advance(other) is ChainStep.STAY
    assert advance(other, is_window=True) is ChainStep.STAY


def test_an_unconfirmed_device_keeps_nothing_open() -> None:
    assert advance(member(2, PUSH, S.UNCONFIRMED)) is ChainStep.NEXT


@pytest.mark.parametrize("status", [S.RETRYING, S.SCHEDULED])
def test_a_waiting_device_ends_with_an_urgent_channel(status: Status) -> None:
    assert advance(member(2, PUSH, status)) is ChainStep.NEXT
    assert advance(member(2, PUSH, status), urgent=False) is ChainStep.STAY


STOPPED = {S.FAILED, S.BOUNCED, S.CANCELLED}


@pytest.mark.parametrize("status", sorted(set(S) - STOPPED))
def test_a_later_channel_is_opened_once(status: Status) -> None:
    assert advance(member(2, SMS, status)) is ChainStep.END


@pytest.mark.parametrize("status", sorted(STOPPED))
def test_the_chain_goes_on_behind_a_stopped_channel_once(status: Status) -> None:
    stopped = member(2, SMS, status)
    assert advance(stopped) is ChainStep.NEXT
    assert advance(stopped, has_next=False) is ChainStep.END
    assert advance(stopped, member(3, EMAIL, S.QUEUED)) is ChainStep.END
    assert advance(stopped, member(0, EMAIL, S.DELIVERED)) is ChainStep.END


def test_the_chain_goes_on_behind_the_last_used_channel() -> None:
    order = [SMS, PUSH, EMAIL]
    assert fallback.later_channels(order, [member(1, PUSH, S.FAILED)]) == [EMAIL]
    assert fallback.later_channels(order, []) == order
    assert fallback.later_channels(order, [member(1, EMAIL, S.FAILED)]) == []


def test_a_channel_that_the_release_left_out_is_used_later() -> None:
    """A scheduled SMS is stopped at its release if the recipient has a device by then."""
    members = [member(1, SMS, S.SUPPRESSED), member(2, PUSH, S.FAILED)]
    assert fallback.later_channels([PUSH, SMS, EMAIL], members) == [SMS, EMAIL]
    assert fallback.later_channels([SMS, PUSH, EMAIL], members) == [EMAIL]


def decision(
    transition: Transition, *, reason: str = "", due: dt.timedelta | None = None
) -> Decision:
    return Decision(transition=transition, reason=reason, due_in=due)


T = transitions


@pytest.mark.parametrize(
    ("made", "priority", "call", "expected"),
    [
        (decision(T.REJECT), Priority.P3, CallHistory(), True),
        (decision(T.DROP), Priority.P3, CallHistory(), True),
        (decision(T.BOUNCE), Priority.P2, CallHistory(), True),
        (decision(T.SUPPRESS, reason=Reason.OPTED_OUT), Priority.P2, CallHistory(), True),
        (decision(T.SUPPRESS, reason=Reason.CAPPED), Priority.P2, CallHistory(), False),
        (decision(T.SUPPRESS, reason=Reason.NOT_ALLOWED), Priority.P0, CallHistory(), False),
        (decision(T.EXPIRE), Priority.P0, CallHistory(), False),
        (decision(T.CANCEL), Priority.P0, CallHistory(), False),
        (decision(T.ACCEPT), Priority.P0, CallHistory(), False),
        (decision(T.RETRY, due=SECOND), Priority.P0, CallHistory(1), False),
        (decision(T.RETRY, due=SECOND), Priority.P0, CallHistory(3), True),
        (decision(T.RETRY, due=SECOND), Priority.P1, CallHistory(3), True),
        (decision(T.RETRY, due=SECOND), Priority.P2, CallHistory(3), False),
        (
            decision(T.RETRY, due=SECOND),
            Priority.P0,
            CallHistory(2, 4.5 * SECOND),
            True,
        ),
        (decision(T.RETRY, due=SECOND), Priority.P0, CallHistory(2, 4 * SECOND), False),
        (decision(T.RETRY_REFUNDED, due=6 * SECOND), Priority.P0, CallHistory(1), True),
        (
            decision(T.HOLD, reason=Reason.BREAKER, due=SECOND),
            Priority.P0,
            CallHistory(),
            True,
        ),
        (decision(T.HOLD, reason=Reason.BREAKER, due=SECOND), Priority.P2, CallHistory(), False),
        (
            decision(T.HOLD, reason=Reason.QUIET_HOURS, due=SECOND),
            Priority.P1,
            CallHistory(),
            False,
        ),
        (
            decision(T.HOLD, reason=Reason.PROVIDER_BUCKET, due=SECOND),
            Priority.P0,
            CallHistory(),
            False,
        ),
        (
            decision(T.LEAVE_UNANSWERED, due=5 * SECOND),
            Priority.P0,
            CallHistory(1),
            True,
        ),
        (
            decision(T.LEAVE_UNANSWERED, due=dt.timedelta(days=1)),
            Priority.P0,
            CallHistory(2),
            False,
        ),
    ],
)
def test_decisions_that_end_a_channel(
    *, made: Decision, priority: Priority, call: CallHistory, expected: bool
) -> None:
    assert fallback.asks_for_next(made, priority=priority, call=call) is expected


@pytest.mark.parametrize(
    ("on", "can_come", "expected"),
    [
        (FallbackOn.RECEIPT, True, 5),
        (FallbackOn.RECEIPT, False, None),
        (FallbackOn.FAILURE, True, None),
        (FallbackOn.UNCONFIRMED, False, 5),
    ],
)
def test_a_window_starts_where_a_receipt_can_come(
    *, on: FallbackOn, can_come: bool, expected: int | None
) -> None:
    def window(priority: Priority, chosen: dt.timedelta | None = None) -> dt.timedelta | None:
        return fallback.confirm_window(priority, chosen=chosen, on=on, receipt_can_come=can_come)

    if expected is None:
        assert window(Priority.P0) is None
    else:
        assert window(Priority.P0) == expected * SECOND
        assert window(Priority.P1) == 30 * SECOND
        assert window(Priority.P3, 90 * SECOND) == 90 * SECOND
