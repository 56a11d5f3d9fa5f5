"""Frequency caps in the state Redis: notifications of a recipient on a channel in a window.

One Lua call counts a whole batch, so concurrent workers together stay below the cap. The clock is
the clock of Redis. A notification counts once, so retries and further devices are free.

After a loss of the Redis instance the windows are empty: a recipient may then get the notifications
of one more window.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter
from typing import Final, NamedTuple, cast
from uuid import UUID

from django.db import transaction

from notifications.core import clock
from notifications.core.models import Delivery
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.rate_limits.frequency_caps import Cap, is_counted
from notifications.core.rules.states import NEVER_SENT
from notifications.core.store.postgres import db, id_ranges
from notifications.core.store.postgres.claims import Claimed
from notifications.core.store.redis import state
from providers.contract import Channel

_MICROSECOND: Final = dt.timedelta(microseconds=1)
_NOT_AT_ALL: Final = dt.timedelta(0)
_CAP: Final = attrgetter("cap", "always")


class Window(NamedTuple):
    """The window of a live recipient on a channel."""

    recipient_id: int
    channel: Channel

    @property
    def key(self) -> str:
        """The Redis key."""
        return f"cap:{self.recipient_id}:{self.channel.label}"


class CapRequest(NamedTuple):
    """A request to count a notification."""

    notification_id: UUID
    window: Window
    cap: Cap
    always: bool
    """True: count the notification even if the window is full."""


def count(asks: Sequence[CapRequest]) -> list[dt.timedelta]:
    """Count the notifications below the caps; return the wait of every request (zero: counted).

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


def counts(windows: Sequence[tuple[Window, Cap]]) -> list[int]:
    """Return the number of counted notifications per window, without a count.

    Raises:
        state.Away: Redis did not answer.
    """
    if not windows:
        return []
    now = clock.now().timestamp()
    with state.connection() as redis, redis.pipeline(transaction=False) as together:
        for window, cap in windows:
            begin = (now - cap.window.total_seconds()) * 1_000_000
            together.zcount(window.key, f"({begin:.0f}", "+inf")
        found: list[int] = together.execute()
    return found


def renew(asks: Sequence[CapRequest]) -> None:
    """Move counted notifications to the current time; uncounted notifications stay uncounted.

    Raises:
        state.Away: Redis did not answer; the earlier times stay.
    """
    arguments: list[str | int | float | bytes] = []
    for each in asks:
        arguments += [each.notification_id.bytes, each.cap.window // _MICROSECOND]
    state.call("recap", [each.window.key for each in asks], arguments)


def refund_unsent(deliveries: Iterable[Claimed | Delivery]) -> None:
    """Refund deliveries without a provider call."""
    counted = {
        (Window(each.recipient_id, Channel(each.channel)), ids.notification_of(each.id))
        for each in deliveries
        if each.mode == Mode.LIVE and is_counted(Priority(each.priority))
    }
    if counted:
        refund(counted)


def refund_after_commit(delivery_ids: Collection[UUID]) -> None:
    """Refund deliveries that the transaction ends without a provider call, after the commit."""
    if delivery_ids:
        rows = Delivery.objects.filter(id__in=list(delivery_ids))
        transaction.on_commit(lambda: refund_unsent(rows))


def refund(counted: Collection[tuple[Window, UUID]]) -> None:
    """Refund notifications that were not sent and can no longer be sent on the channel.

    Postgres decides after the final transitions: a notification stays counted while a delivery to
    another device is open, was sent or was perhaps sent. While Redis is away, refunds are dropped.
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
