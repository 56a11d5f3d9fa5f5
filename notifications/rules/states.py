r"""The statuses of a delivery and every legal move between them.

One table, `SOURCES`, says from where each status may be reached. `store/moves.py` puts the sources
of its target into the `WHERE` of its `UPDATE`, so an illegal move changes no row. Receipts come
early, late, twice, out of order or never: each pair is either in the table, and moves, or not, and
does nothing.

    scheduled --> queued --> sending --> sent --> delivered --> read
        ^           ^          |  |        \--> bounced, failed, unconfirmed
        |           |          |  +--> retrying --> (queued | sending)
        +-----------+----------+--> failed, expired, suppressed, cancelled, unknown
"""

from __future__ import annotations

from enum import IntEnum
from types import MappingProxyType
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
_WAITING = frozenset({_S.SCHEDULED, _S.QUEUED, _S.RETRYING})
_IN_HAND = _WAITING | {_S.SENDING}
_GONE = frozenset({_S.SENT, _S.UNCONFIRMED, _S.UNKNOWN})

SOURCES: Final = MappingProxyType({
    # A gate holds what a worker has claimed.
    _S.SCHEDULED: frozenset({_S.SENDING}),
    # Released, put back, resent after silence, or replayed by an operator.
    _S.QUEUED: _IN_HAND - {_S.QUEUED} | {_S.UNKNOWN, _S.FAILED, _S.BOUNCED, _S.EXPIRED},
    _S.SENDING: _WAITING,
    _S.RETRYING: frozenset({_S.SENDING}),
    # Also by the late word of a worker that lost its lease: what was accepted must not leave
    # again.
    _S.SENT: frozenset({_S.SENDING, _S.QUEUED, _S.RETRYING, _S.UNKNOWN}),
    _S.UNCONFIRMED: frozenset({_S.SENT}),
    # A receipt is evidence, whatever we believed: a message that arrived did not fail.
    _S.DELIVERED: _IN_HAND - {_S.SCHEDULED} | _GONE | {_S.FAILED, _S.EXPIRED},
    _S.READ: _IN_HAND - {_S.SCHEDULED} | _GONE | {_S.DELIVERED, _S.FAILED, _S.EXPIRED},
    _S.BOUNCED: _GONE | {_S.SENDING, _S.DELIVERED},
    _S.FAILED: _IN_HAND | _GONE,
    _S.EXPIRED: _IN_HAND,
    _S.SUPPRESSED: _IN_HAND,
    _S.CANCELLED: _IN_HAND,
    # To itself: closed after a day without a word.
    _S.UNKNOWN: frozenset({_S.SENDING, _S.UNKNOWN}),
})
"""Target -> the statuses that it may be reached from."""

OPEN: Final = frozenset(
    {_S.SCHEDULED, _S.QUEUED, _S.SENDING, _S.RETRYING},
)
"""What can still leave by itself. (`sent` and `unknown` may change too, by a receipt.)"""

NEVER_BACK: Final = frozenset(set(Status) - set().union(*SOURCES.values()))
"""Statuses that nothing follows."""

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
