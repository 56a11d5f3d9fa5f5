"""Broker share: the most messages of a P2 or P3 lane that the relay leaves in the broker.

A row in the broker is behind all earlier rows, so a long queue in the broker would delay a producer
with few rows as much as the producer with many: the fair order is that of the publish. The share
therefore follows the speed of the lane: between one and two seconds of work, for a relay that runs
each second.

    the lane ran empty although rows were left over     half as much again
    over half of the share is still in the broker       a quarter less

The share is of the process: each `ops` process learns its own.
"""

from __future__ import annotations

from typing import Final

from notifications.rules.lane import Lane

LEAST: Final = 2
FIRST: Final = 6
"""Share of a lane without experience, in messages."""


class BrokerShares:
    """The shares of the lanes."""

    def __init__(self) -> None:
        """Begin without experience."""
        self._shares: dict[Lane, int] = {}
        self._left_over: set[Lane] = set()

    def share(self, lane: Lane, *, depth: int, most: int) -> int:
        """Return the share of a lane in messages, from the messages in the broker now."""
        now = self._shares.get(lane, FIRST)
        if not depth and lane in self._left_over:
            now += max(1, now // 2)
        elif depth > now // 2:
            now -= max(1, now // 4)
        self._shares[lane] = min(max(now, LEAST), most)
        return self._shares[lane]

    def note_published(self, lane: Lane, *, left_over: bool) -> None:
        """Note whether rows were left over after a publish."""
        if left_over:
            self._left_over.add(lane)
        else:
            self._left_over.discard(lane)
