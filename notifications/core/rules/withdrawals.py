"""Withdrawals: which deliveries can be removed from a device, and when a failed call is repeated.

A withdrawal is a silent push that tells the app to remove the shown message with the same ids, or
removes an item from the recipient's inbox. A withdrawal changes no status: the message was
delivered.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Final

from notifications.core.rules import retries
from notifications.core.rules.described import Described
from notifications.core.rules.reasons import Reason
from notifications.core.rules.retries import Jitter
from notifications.core.rules.states import OPEN, Status
from providers.contract import Channel


class WithdrawalState(Described):
    """The state of the withdrawal of one delivery; `sentence` explains it to a caller."""

    WITHDRAWING = "withdrawing", "The device is told to remove the message."
    WITHDRAWN = "withdrawn", "The provider has accepted the removal before."
    NOT_SENT = "not_sent", "The message did not leave and will not leave."
    REPLACED = (
        "replaced",
        "A later message with the same collapse key has replaced the message on the device.",
    )
    UNSUPPORTED = (
        "unsupported",
        "The channel or the provider cannot remove a message that was sent.",
    )


SHOWN: Final = frozenset({
    Status.SENT,
    Status.UNCONFIRMED,
    Status.DELIVERED,
    Status.READ,
    Status.UNKNOWN,
})
"""Statuses of deliveries that a device may show."""
WITHDRAWABLE: Final = frozenset({Channel.PUSH, Channel.IN_APP})
"""Channels on which a message that was sent can be removed."""
MAY_HAVE_SHOWN: Final = ("accepted", "unanswered")
"""Outcomes of calls after which a device may show the message, whatever the status."""
LIFE: Final = dt.timedelta(hours=1)
"""Shortest time for calls, and for the provider to reach the device."""
NEXT_LOOK: Final = dt.timedelta(seconds=5)
"""Wait for a worker that still sends the message."""
HELD: Final = dt.timedelta(seconds=15)
"""Wait while a circuit breaker is open or a switch holds the provider, channel or lane."""
_FIRST: Final = dt.timedelta(seconds=5)
_LONGEST: Final = dt.timedelta(minutes=5)
_RETRIES: Final = retries.Preset(
    "withdrawal", Jitter.THIRD, base=_FIRST, multiplier=2, cap=_LONGEST, attempts=1 << 15
)
"""The end of a withdrawal is `ends_at`, and no number of calls."""


def ends_at(*, now: dt.datetime, expires_at: dt.datetime) -> dt.datetime:
    """Return the end of the tries: the end of the message's time to live, at least an hour."""
    return max(expires_at, now + LIFE)


def next_try(*, failures: int, retry_after: dt.timedelta | None, chance: float) -> dt.timedelta:
    """Return the wait after a failed call.

    Args:
        failures: the earlier failed calls.
        retry_after: the wait that the provider asks for; a shorter wait is lengthened to it.
        chance: one draw from [0, 1), so that the messages of one outage do not come back together.
    """
    wait = retries.delay_after(_RETRIES, failures + 1, chance=chance)
    return max(wait, retry_after or dt.timedelta(0))


def state_of(
    *, channel: Channel, status: Status, outcomes: Iterable[str], past: Iterable[str]
) -> WithdrawalState:
    """Return the state of a delivery after the cancellation of its notification.

    Args:
        channel: the channel of the delivery.
        status: the status of the delivery.
        outcomes: the outcomes of its provider calls.
        past: the reasons of its events, in order.
    """
    if status not in SHOWN | OPEN and not may_be_shown(status, outcomes):
        return WithdrawalState.NOT_SENT
    if channel not in WITHDRAWABLE:
        return WithdrawalState.UNSUPPORTED
    if Reason.WITHDRAWN in past:
        return WithdrawalState.WITHDRAWN
    return WithdrawalState.WITHDRAWING


def may_be_shown(status: Status, outcomes: Iterable[str]) -> bool:
    """Return True if a device may show the message."""
    return status in SHOWN or any(each in MAY_HAVE_SHOWN for each in outcomes)
