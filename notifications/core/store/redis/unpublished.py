"""Unpublished shares: rows that a relay has taken from Postgres and not yet published.

A relay commits the next due time of a share of rows before the relay publishes the share. A relay
that dies between the two leaves a note here, and the next run publishes the rows again. While the
state Redis is away, no note is written, and such rows wait until they are due.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterable
from typing import Final, NamedTuple, cast

from notifications.core.store.redis import state

_KEY: Final = "relay:unpublished"
"""A set; each member is a share."""


class Share(NamedTuple):
    """The rows of a lane taken by a transaction."""

    lane: str
    """The name of the lane."""
    published_at: dt.datetime
    """The column of the rows, equal in all rows of the share."""

    @property
    def member(self) -> str:
        """The share as a member of the set."""
        return f"{self.lane} {self.published_at.isoformat()}"


def note(share: Share) -> None:
    """Note a share before the commit."""
    with contextlib.suppress(state.Away), state.connection() as redis:
        redis.sadd(_KEY, share.member)


def forget(shares: Iterable[Share]) -> None:
    """Delete the notes of published shares."""
    members = [each.member for each in shares]
    if members:
        with contextlib.suppress(state.Away), state.connection() as redis:
            redis.srem(_KEY, *members)


def shares_before(instant: dt.datetime) -> list[Share]:
    """Return the noted shares taken before an instant; none while Redis is away."""
    with contextlib.suppress(state.Away), state.connection() as redis:
        members = cast("set[bytes]", redis.smembers(_KEY))
        shares = [_read(each.decode()) for each in members]
        return [each for each in shares if each.published_at < instant]
    return []


def _read(member: str) -> Share:
    lane, _, at = member.partition(" ")
    return Share(lane, dt.datetime.fromisoformat(at))
