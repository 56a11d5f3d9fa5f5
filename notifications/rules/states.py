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
    """Where a delivery stands. The number is what Postgres stores."""

    SCHEDULED = 1
    """Waits for an instant, or is held by a gate (the reason says which)."""
    QUEUED = 2
    """May leave now: published to its lane, or about to be."""
    SENDING = 3
    """Claimed by a worker under a lease; a provider call may be under way."""
    RETRYING = 4
    """A call failed in a way that passes; waits for its next try."""
    SENT = 5
    """The provider accepted it."""
    UNCONFIRMED = 6
    """Accepted, but no receipt came in the confirm window; the fallback has begun."""
    DELIVERED = 7
    """A receipt says that it reached the person's device or mailbox."""
    READ = 8
    """A receipt says that the person opened it."""
    BOUNCED = 9
    """Accepted and then returned."""
    FAILED = 10
    """Rejected, or tried in vain; a dead letter unless its policy drops."""
    EXPIRED = 11
    """Its time to live passed before it could leave."""
    SUPPRESSED = 12
    """Never tried: opted out, capped, no contact, duplicate."""
    CANCELLED = 13
    """Stopped by its producer before it left."""
    UNKNOWN = 14
    """Perhaps sent: the call was made and no answer came."""

    @property
    def label(self) -> str:
        """The status as the API spells it."""
        return self.name.lower()


_S = Status

OPEN: Final = frozenset(
    {_S.SCHEDULED, _S.QUEUED, _S.SENDING, _S.RETRYING},
)
"""What can still leave by itself. (`sent` and `unknown` may change too, by a receipt.)"""

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
    """A notification's status: that of its delivery that has come furthest.

    One that reached the person counts for all; while one may still leave, the notification is open.
    """
    return max(statuses, key=_BY_ADVANCE.index)
