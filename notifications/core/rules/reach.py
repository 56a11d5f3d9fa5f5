"""Reach: the share of notifications that reached the recipient on at least one channel.

A notification counts once, with any number of channels and devices. Reached means that a
receipt reports the message as delivered or read on a channel, or that a provider without receipts
took the message. The best delivery of a notification decides: a push that failed and an SMS that
was delivered are one reached notification.

Not counted: test mode, cancelled notifications, and notifications without a delivery that was
tried. A delivery was not tried if the recipient's preferences, a frequency cap, the suppression
list or a missing contact stopped the delivery, or if the time to live ended in quiet hours, in
do-not-disturb, in the producer's night, or while an operator's switch held the message. A marketing
message that the service dropped because of a late lane counts as failed.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from notifications.core.rules.described import Described
from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.service_levels import EventShare
from notifications.core.rules.states import Status


class ReachResult(Described):
    """The result of a notification over all channels; an earlier member wins over a later one."""

    REACHED = (
        "reached",
        "A receipt reports arrival on a channel, or a provider without receipts took the message.",
    )
    OPEN = "open", "A delivery can still leave, or waits for a receipt in a confirm window."
    UNCONFIRMED = "unconfirmed", "A provider with receipts took the message; no receipt has come."
    FAILED = "failed", "No channel worked, and on one the service or a provider gave up."
    REJECTED = "rejected", "Every channel that was tried refused or returned the message."


RESULTS: Final = {each.value: each for each in ReachResult}
ReachCounts = Counter[ReachResult]
"""Notifications by result."""

WINDOW: Final = dt.timedelta(days=3)
RECENT: Final = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Notifications accepted within WINDOW, by result."""

    of: Mapping[Priority, ReachCounts]
    recent: ReachCounts
    """All priorities, accepted within RECENT."""
    percent: float
    """Percentage of the notifications that was counted."""

    @property
    def total(self) -> ReachCounts:
        """All priorities."""
        return sum(self.of.values(), ReachCounts())


ARRIVED: Final = frozenset({Status.DELIVERED, Status.READ})
"""Statuses by a receipt."""
TAKEN: Final = frozenset({Status.SENT, Status.UNCONFIRMED})
"""Statuses of a delivery that a provider took, or perhaps took, without a receipt."""
GIVEN_UP: Final = frozenset({Status.FAILED, Status.EXPIRED, Status.UNKNOWN})
"""Statuses of a failure, unless the reason is one of `reasons.REFUSED` or NOT_TRIED, or
`escalated`: then the next channel of the fallback chain decides."""
NOT_TRIED: Final = frozenset({
    Reason.TTL_PASSED_IN_DO_NOT_DISTURB,
    Reason.TTL_PASSED_IN_QUIET_HOURS,
    Reason.TTL_PASSED_IN_PRODUCERS_NIGHT,
    Reason.TTL_PASSED_WHILE_PAUSED,
})
"""Reasons of `expired` that are a wish of the recipient, the producer or an operator."""


def share(counts: ReachCounts) -> float | None:
    """Return the share of reached notifications among known results; None without known results."""
    reached = counts[ReachResult.REACHED]
    known = reached + counts[ReachResult.FAILED] + counts[ReachResult.REJECTED]
    return reached / known if known else None


def event_share(counts: ReachCounts) -> EventShare:
    """Return the events of the service level: bad notifications are those that failed.

    As in the service level "deliveries sent", a dead address is not bad, and a message that a
    provider took is good.
    """
    good = counts[ReachResult.REACHED] + counts[ReachResult.UNCONFIRMED]
    return EventShare(good=good, bad=counts[ReachResult.FAILED])
