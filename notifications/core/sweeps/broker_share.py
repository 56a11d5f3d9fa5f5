"""Broker share: the most rows of a P2 or P3 lane that the relay leaves in the broker.

A row in the broker is behind all earlier rows, so a long queue in the broker would delay a producer
with few rows as much as the producer with many: the fair order is that of the publish. The share
therefore follows the speed of the lane: about a second of work, for a relay that runs each second.

    the lane ran empty although rows were left over       half as much again
    one message was left, and rows were left over         an eighth more
    over a third of the share is still in the broker      an eighth less

A worker holds several messages of a lane, and these are ahead of a new row too. A message
therefore has an eighth of the share, but no fewer than 250 rows: smaller messages cost twice the
work for each row. While rows are left over, every message is full.

The share is of the process: each `ops` process learns its own.
"""

from __future__ import annotations

from typing import Final

from notifications.core import lanes
from notifications.core.rules.lane import Lane

LEAST: Final = 500
FIRST: Final = 1_500
"""Share of a lane without experience, in rows."""
MESSAGES: Final = 8
"""Messages of a share, within the limits of a message's size."""
SMALLEST: Final = 250
"""Rows of a message, if there are as many; `lanes.CHUNK` is the most."""


class BrokerShares:
    """The shares of the lanes."""

    def __init__(self) -> None:
        """Begin without experience."""
        self._shares: dict[Lane, int] = {}
        self._left_over: set[Lane] = set()

    def free(self, lane: Lane, *, depth: int, most: int) -> int:
        """Return the rows that the broker has room for, and learn from the depth.

        Args:
            lane: a lane of P2 or P3.
            depth: the messages in the broker now.
            most: the most messages of a lane in the broker.
        """
        share, waiting = self._shares.get(lane, FIRST), depth * self.message_size(lane)
        if depth <= 1 and lane in self._left_over:
            share += share // 8 if depth else share // 2
        elif waiting > share // 3:
            share -= share // 8
        self._shares[lane] = min(max(share, LEAST), most * lanes.CHUNK)
        size = self.message_size(lane)
        return max(0, min((self._shares[lane] - waiting) // size, most - depth)) * size

    def message_size(self, lane: Lane) -> int:
        """Return the most rows of a message."""
        return min(max(self._shares.get(lane, FIRST) // MESSAGES, SMALLEST), lanes.CHUNK)

    def note_published(self, lane: Lane, *, left_over: bool) -> None:
        """Note whether rows were left over after a publish."""
        if left_over:
            self._left_over.add(lane)
        else:
            self._left_over.discard(lane)
