"""Ordering: which delivery of an ordering key may leave, and which deliveries lose their place.

Deliveries of a key and channel leave one at a time. The head is the first open delivery. Only the
head is due: other deliveries wait until the head's end wakes the next head, or until their time to
live ends.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import OPEN, Status

LETS_GO_AFTER: Final = dt.timedelta(seconds=60)
"""A head held for longer loses its place."""
DEPTH: Final = 50
"""First places of a key and channel that are read together."""


class Front(NamedTuple):
    """A front position of a key and channel, with the delivery."""

    id: int
    delivery_id: UUID
    held_since: dt.datetime | None
    status: Status | None
    """None: the delivery does not exist."""
    reason: str = ""
    due_at: dt.datetime | None = None


@dataclass(slots=True)
class Advance:
    """Decisions about the first places of some keys."""

    gone: list[int] = field(default_factory=list)
    """Places of deliveries that are settled or given up."""
    let_go: list[UUID] = field(default_factory=list)
    """Deliveries that lose their place and may still leave, or may have been sent."""
    held: list[int] = field(default_factory=list)
    """Heads whose hold begins now."""
    unheld: list[int] = field(default_factory=list)
    """Heads whose hold has ended."""
    heads: list[UUID] = field(default_factory=list)
    """Deliveries whose turn it is."""
    waking: list[UUID] = field(default_factory=list)
    """Heads that only waited for their turn."""

    @property
    def changes(self) -> bool:
        """True if there is a change to write."""
        return any((self.gone, self.held, self.unheld, self.waking))

    def add(self, fronts: Sequence[Front], *, now: dt.datetime) -> bool:
        """Decide about a key and channel, in the order of its places; False: no head was found."""
        for front in fronts:
            if front.status not in OPEN:
                self.gone.append(front.id)
                if front.status is Status.UNKNOWN:
                    self.let_go.append(front.delivery_id)
            elif _lets_go(front, now=now):
                self.gone.append(front.id)
                self.let_go.append(front.delivery_id)
            else:
                self._note_head(front)
                return True
        return False

    def _note_head(self, front: Front) -> None:
        self.heads.append(front.delivery_id)
        if front.status is Status.SCHEDULED and front.reason == Reason.ORDERING:
            self.waking.append(front.delivery_id)
        elif front.status is Status.SCHEDULED and front.held_since is None:
            self.held.append(front.id)
        elif front.status is Status.RETRYING and front.held_since is not None:
            self.unheld.append(front.id)


def _lets_go(front: Front, *, now: dt.datetime) -> bool:
    """Return True if a hold for a reason other than ordering lasts too long."""
    if front.status is not Status.SCHEDULED or front.reason == Reason.ORDERING:
        return False
    if front.due_at is None or front.due_at <= now:
        return False
    since = front.held_since or now
    return front.due_at > now + LETS_GO_AFTER or since < now - LETS_GO_AFTER
