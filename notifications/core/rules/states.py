r"""The statuses of a delivery. `rules.transitions` holds every legal move between them.

scheduled --> queued --> sending --> sent --> delivered --> read
^           ^          |  |        \--> bounced, failed, unconfirmed
|           |          |  +--> retrying --> (queued | sending)
+-----------+----------+--> failed, expired, suppressed, cancelled, unknown
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Status(IntEnum):
    """The status of a delivery. Postgres stores the number."""

    SCHEDULED = 1
    """Waits for an instant, or is held by a gate (see the reason)."""
    QUEUED = 2
    """May leave now: published to its lane, or about to be."""
    SENDING = 3
    """Claimed by a worker under a lease; a provider call may be under way."""
    RETRYING = 4
    """A call failed temporarily; waits for its next try."""
    SENT = 5
    """The provider accepted it."""
    UNCONFIRMED = 6
    """Accepted or unanswered, and no receipt came in time; the next channel has begun."""
    DELIVERED = 7
    """A receipt says that the message reached the device or mailbox."""
    READ = 8
    """A receipt says that the recipient opened the message."""
    BOUNCED = 9
    """Accepted and then returned."""
    FAILED = 10
    """Rejected, or all attempts failed; a dead letter unless its policy drops."""
    EXPIRED = 11
    """Its time to live passed before it could leave."""
    SUPPRESSED = 12
    """Never tried: opted out, capped, no contact, duplicate."""
    CANCELLED = 13
    """Stopped by its producer before it left."""
    UNKNOWN = 14
    """The call was made and not answered: the message may have been sent."""

    @property
    def label(self) -> str:
        """The status as the API spells it."""
        return self.name.lower()


_S = Status

OPEN: Final = frozenset(
    {_S.SCHEDULED, _S.QUEUED, _S.SENDING, _S.RETRYING},
)
"""Statuses of deliveries that can still leave. (A receipt may change `sent` and `unknown`.)"""

NEVER_SENT: Final = frozenset({_S.FAILED, _S.EXPIRED, _S.SUPPRESSED, _S.CANCELLED})
"""Final statuses of a delivery that did not leave, or that a provider refused."""

_BY_ADVANCE: Final = (
    _S.CANCELLED,
    _S.SUPPRESSED,
    _S.EXPIRED,
    _S.FAILED,
    _S.BOUNCED,
    _S.SCHEDULED,
    _S.QUEUED,
    _S.RETRYING,
    _S.SENDING,
    _S.UNKNOWN,
    _S.UNCONFIRMED,
    _S.SENT,
    _S.DELIVERED,
    _S.READ,
)


def overall(statuses: list[Status]) -> Status:
    """Return the status of a notification: the status of the delivery that has come furthest.

    A delivery that reached the recipient comes first, then an open delivery.
    """
    return max(statuses, key=_BY_ADVANCE.index)
