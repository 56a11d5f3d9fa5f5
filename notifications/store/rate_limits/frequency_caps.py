"""Caps in the state Redis: a recipient's notifications on a channel in the window of the cap.

One Lua call counts a whole batch, so concurrent workers never let more through than the cap allows.
Redis's clock counts. A notification that is counted twice counts once, so retries and further
devices cost nothing.

Losing the instance forgets the windows: a recipient may then get one more window's worth.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter
from typing import Final, NamedTuple, cast
from uuid import UUID

from notifications.models import Delivery
from notifications.rules import ids
from notifications.rules.lane import Mode, Priority
from notifications.rules.rate_limits import frequency_caps as rules
from notifications.rules.rate_limits.frequency_caps import Cap
from notifications.rules.states import NEVER_SENT
from notifications.store.postgres import db, id_ranges
from notifications.store.postgres.claims import Claimed
from notifications.store.redis import state
from providers.contract import Channel

_MICROSECOND: Final = dt.timedelta(microseconds=1)
_NOT_AT_ALL: Final = dt.timedelta(0)
_CAP: Final = attrgetter("cap", "always")


class Window(NamedTuple):
    """One recipient on one channel, in live mode."""

    recipient_id: int
    channel: Channel

    @property
    def key(self) -> str:
        """The Redis key."""
        return f"cap:{self.recipient_id}:{self.channel.label}"


class CapRequest(NamedTuple):
    """One notification that wants to leave."""

    notification_id: UUID
    window: Window
    cap: Cap
    always: bool
    """The notification counts even if it does not fit."""


def count(asks: Sequence[CapRequest]) -> list[dt.timedelta]:
    """Count what fits; returns the wait of each ask (zero: none).

    Raises:
        state.Away: Redis did not answer.
    """
    arguments: list[str | int | float | bytes] = []
    for (cap, always), run in itertools.groupby(asks, key=_CAP):
        together = [each.notification_id.bytes for each in run]
        window = cap.window // _MICROSECOND
        arguments += [cap.limit, window, int(always), len(together), *together]
    waits = cast("list[int]", state.call("cap", [each.window.key for each in asks], arguments))
    return [wait * _MICROSECOND if wait else _NOT_AT_ALL for wait in waits]


def renew(asks: Sequence[CapRequest]) -> None:
    """Count these from now on instead of from their first count; uncounted ones stay uncounted.

    Raises:
        state.Away: the first counts stay.
    """
    arguments: list[str | int | float | bytes] = []
    for each in asks:
        arguments += [each.notification_id.bytes, each.cap.window // _MICROSECOND]
    state.call("recap", [each.window.key for each in asks], arguments)


def refund_unsent(deliveries: Iterable[Claimed | Delivery]) -> None:
    """Refund deliveries that have just ended without being sent."""
    counted = {
        (Window(each.recipient_id, Channel(each.channel)), ids.notification_of(each.id))
        for each in deliveries
        if each.mode == Mode.LIVE and rules.is_counted(Priority(each.priority))
    }
    if counted:
        refund(counted)


def refund(counted: Collection[tuple[Window, UUID]]) -> None:
    """Refund those of these notifications that did not leave and cannot leave on the channel.

    Postgres decides after the final moves: a notification stays counted while a delivery to another
    device is open, was sent or was perhaps sent. While Redis is away no count is refunded.
    """
    places = {(one.bytes, window.channel.value): (window, one) for window, one in counted}
    asked: dict[UUID, list[int]] = {}
    for window, one in places.values():
        asked.setdefault(one, []).append(window.channel.value)
    rows = [
        row
        for span, wanted in id_ranges.by_day(asked)
        for row in db.rows(
            "never_left",
            {
                **span,
                "ids": [one for one in wanted for _ in asked[one]],
                "channels": [channel for one in wanted for channel in asked[one]],
                "never_left": sorted(NEVER_SENT),
            },
        )
    ]
    back = [places[row["id"].bytes, row["channel"]] for row in rows]
    if not back:
        return
    try:
        state.call("uncap", [window.key for window, _ in back], [one.bytes for _, one in back])
    except state.Away:
        return
