"""Fallback chains: the end of a channel, and the next channel of a notification.

    failed for good, bounced, stopped by a gate     next channel
    P0 and P1: every provider of the channel is paused  next channel at once
    P0 and P1: third failed call, or the next try
    would come over 5 s after the first call        next channel
    no receipt in the confirm window                next channel

A channel with several devices ends when its last device ends. A delivery that reached the recipient
ends the chain, and so does the cancellation or the time to live of the notification.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from enum import Enum, StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from notifications.core.rules.lane import Priority
from notifications.core.rules.outcomes import Decision
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.unanswered import CLOSE_AFTER
from providers.contract import Channel

CONFIRM_WITHIN: Final = {
    Priority.P0: dt.timedelta(seconds=5),
    Priority.P1: dt.timedelta(seconds=30),
    Priority.P2: dt.timedelta(seconds=30),
    Priority.P3: dt.timedelta(seconds=30),
}
"""Default confirm windows; a notification type can have its own."""
FAILED_CALLS: Final = 3
"""Failed calls of P0 and P1 after which the chain goes on."""
RETRIES_WITHIN: Final = dt.timedelta(seconds=5)
"""Time from the first call of P0 and P1 in which a further call must begin."""

_STOPS: Final = frozenset({
    Reason.OPTED_OUT,
    Reason.NO_CONTACT,
    Reason.SUPPRESSION_LIST,
    Reason.COUNTRY_NOT_ALLOWED,
})
"""Reasons of a stop that concern the channel, not the recipient or the notification."""
_RESTS: Final = frozenset({
    Reason.BREAKER,
    Reason.ENDPOINT,
    Reason.NO_PROVIDER,
    Reason.PROVIDER_MISCONFIGURED,
    Reason.CHANNEL_PAUSED,
    Reason.SMS_CEILING,
})
"""Reasons of a hold for which every provider of the channel is paused, or no SMS may leave."""
REACHED: Final = frozenset({Status.DELIVERED, Status.READ})
"""Statuses of a delivery that reached the recipient."""
STOPPED_UNSENT: Final = frozenset({
    Status.BOUNCED,
    Status.EXPIRED,
    Status.SUPPRESSED,
    Status.CANCELLED,
})
"""Statuses of an earlier channel after which the next channel is no fallback for SMS pumping
protection: the provider was not at fault."""
_ON_THEIR_WAY: Final = frozenset({Status.QUEUED, Status.SENDING, Status.SENT, Status.UNKNOWN})
"""Statuses of an open device that can still reach the recipient without a retry."""
_WAITING: Final = frozenset({Status.RETRYING, Status.SCHEDULED})
OVER: Final = frozenset({
    Status.FAILED,
    Status.BOUNCED,
    Status.UNCONFIRMED,
    Status.EXPIRED,
    Status.SUPPRESSED,
    Status.CANCELLED,
})
"""Statuses of a delivery that did not reach the recipient and does not leave any more."""
_STOPPED: Final = frozenset({Status.FAILED, Status.BOUNCED, Status.CANCELLED})
"""Statuses of a later channel behind which the chain goes on, if a channel is left: the chain had
stopped for a receipt of an earlier channel, and that channel has bounced."""
_ENDS: Final = frozenset({Status.FAILED, Status.BOUNCED})


class FallbackOn(StrEnum):
    """The condition of a notification type for the next channel."""

    RECEIPT = ""
    """Failure, or no receipt in the confirm window if a receipt can come."""
    FAILURE = "failure"
    """Failure alone."""
    UNCONFIRMED = "unconfirmed"
    """Failure, or no receipt in the confirm window on any provider."""

    @property
    def label(self) -> str:
        """The condition in the words of the admin."""
        return _LABELS[self]


_LABELS: Final = {
    FallbackOn.RECEIPT: "failure, or no receipt where a receipt can come",
    FallbackOn.FAILURE: "failure",
    FallbackOn.UNCONFIRMED: "failure, or no receipt",
}


class CallHistory(NamedTuple):
    """The calls of a delivery at a decision."""

    counted: int = 0
    """Calls counted against the retry policy, including the current call."""
    first_began: dt.timedelta = dt.timedelta(0)
    """Time since the first call."""


class Member(NamedTuple):
    """A delivery of the chain."""

    id: UUID
    channel: int
    """A number: a newer release can have a further channel."""
    status: Status
    is_open: bool = False
    """True if the row has a due time: a step or a receipt is awaited."""


class ChainStep(Enum):
    """The answer of the chain to a trigger."""

    STAY = "stay"
    """The normal decision applies."""
    END = "end"
    """The delivery ends for the chain: another channel is used or has reached the recipient, or
    another device is open."""
    NEXT = "next"
    """The delivery ends and the next channel opens."""


def confirm_window(
    priority: Priority, *, chosen: dt.timedelta | None, on: FallbackOn, receipt_can_come: bool
) -> dt.timedelta | None:
    """Return the confirm window of an accepted delivery; None: acceptance ends the chain."""
    if on is FallbackOn.FAILURE or (on is FallbackOn.RECEIPT and not receipt_can_come):
        return None
    return chosen or CONFIRM_WITHIN[priority]


def asks_for_next(decision: Decision, *, priority: Priority, call: CallHistory) -> bool:
    """Return True if a worker's decision is a trigger: the next channel opens if one is left.

    A delivery of P0 or P1 that could wait or retry is a trigger under the conditions above.
    """
    to = decision.transition.to
    if to in _ENDS or (to is Status.SUPPRESSED and decision.reason in _STOPS):
        return True
    return priority.is_urgent and _gives_up(decision, call)


def _gives_up(decision: Decision, call: CallHistory) -> bool:
    """Return True if an urgent delivery leaves the channel instead of a wait or retry."""
    if decision.due_in is None:
        return False
    match decision.transition.to:
        case Status.SCHEDULED:
            return decision.reason in _RESTS
        case Status.UNKNOWN:
            return decision.due_in < CLOSE_AFTER
        case Status.RETRYING:
            is_late = call.first_began + decision.due_in > RETRIES_WITHIN
            return is_late or call.counted >= FAILED_CALLS
        case _:
            return False


def advance(
    members: Iterable[Member],
    *,
    channel: Channel,
    triggered: Collection[UUID],
    is_urgent: bool,
    has_next: bool,
    is_window: bool = False,
) -> ChainStep:
    """Decide about the deliveries of a channel with a trigger.

    Args:
        members: all deliveries of the notification.
        channel: the channel of the triggered deliveries.
        triggered: the deliveries with a trigger.
        is_urgent: True for P0 and P1, whose waiting devices end with the channel.
        has_next: True if a later channel of the chain can be used.
        is_window: True if the trigger is the end of a confirm window. Such a delivery becomes
            unconfirmed, even if another device of the channel is open.
    """
    others = [each for each in members if each.id not in triggered]
    devices = [each for each in others if each.channel == channel]
    elsewhere = [each for each in others if each.channel != channel]
    later = [each for each in elsewhere if each.id > max(triggered)]
    if later and not (has_next and all(each.status in _STOPPED for each in later)):
        return ChainStep.END
    if any(each.status in REACHED for each in elsewhere):
        return ChainStep.STAY if is_window else ChainStep.END
    if any(each.status in REACHED or _is_accepted(each) for each in devices):
        return ChainStep.STAY
    if not has_next:
        return ChainStep.STAY
    blocking = _ON_THEIR_WAY if is_urgent else _ON_THEIR_WAY | _WAITING
    if any(each.is_open and each.status in blocking for each in devices):
        return ChainStep.END if is_window else ChainStep.STAY
    return ChainStep.NEXT


def _is_accepted(device: Member) -> bool:
    """Return True for a device without further receipts: the channel was sent."""
    return device.status is Status.SENT and not device.is_open


def waiting_devices(members: Iterable[Member], *, channel: Channel) -> list[UUID]:
    """Return the devices of an ended channel that wait for a retry or a provider."""
    return [each.id for each in members if each.channel == channel and each.status in _WAITING]


def later_channels(order: Sequence[Channel], members: Iterable[Member]) -> list[Channel]:
    """Return the channels of the chain behind the last used channel, in order.

    A suppressed delivery that is older than another delivery does not count: the release of a
    scheduled notification has chosen an earlier channel.
    """
    listed = sorted(members)
    used = {each.channel for each in listed[-1:]}
    used |= {each.channel for each in listed if each.status is not Status.SUPPRESSED}
    last = max((place for place, each in enumerate(order) if each in used), default=-1)
    return [each for each in order[last + 1 :] if each not in used]
