"""Frequency caps: hold or drop deliveries above the recipient's cap.

Caps are counted after all gates, so held and stopped deliveries do not count. One Redis call counts
a batch; a batch without caps needs no call. Deliveries that admission holds are counted again when
they leave (`renew`). While the state Redis is away, P1 leaves and P2 and P3 wait. Deliveries in
test mode have no cap.

The count of an unsent delivery is refunded. A worker without the lease may count after the refund,
so the worker refunds again; Postgres decides, so a sent delivery stays counted.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Final

from notifications.core import clock, conf
from notifications.core.delivery.batch import Batch
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.outcomes import Decision
from notifications.core.rules.rate_limits.frequency_caps import OVER, Cap, Over, cap_for
from notifications.core.rules.reasons import Reason
from notifications.core.rules.transitions import HOLD, SUPPRESS
from notifications.core.store.rate_limits import frequency_caps
from notifications.core.store.rate_limits.frequency_caps import CapRequest, Window
from notifications.core.store.redis import state
from providers.contract import Channel

_LOOK_AGAIN: Final = dt.timedelta(seconds=15)
"""Wait of rows while the state Redis is away; the jitter is as long again."""

_RENEWED_AFTER: Final = dt.timedelta(minutes=1)
"""A delivery keeps its first count if it leaves sooner than this after its acceptance."""

_Places = dict[tuple[int, Channel], list[ClaimedDelivery]]
"""Live deliveries with a cap, by the number of the notification and channel: a notification counts
once on a channel."""


def apply_caps(batch: Batch) -> None:
    """Count the deliveries of a batch; hold or drop deliveries above the cap."""
    asks, places = _asks(batch.deliveries)
    if not asks:
        return
    try:
        waits = frequency_caps.count(asks)
    except state.Away:
        _hold_until_the_state_is_back(batch, places)
        return
    for ask, deliveries, wait in zip(asks, places.values(), waits, strict=True):
        if wait:
            _stop(batch, deliveries, cap=ask.cap, wait=wait)


def renew(deliveries: Iterable[ClaimedDelivery], *, claimed_at: dt.datetime) -> None:
    """Count delayed deliveries of a claim again, at the time they leave.

    After an outage as long as the window, a recipient would otherwise get twice the cap: delayed
    and new deliveries. While the state Redis is away, the earlier count stays.
    """
    recent = ids.floor_at(claimed_at - _RENEWED_AFTER).int
    waited = [claimed for claimed in deliveries if claimed.delivery.id.int < recent]
    asks, _ = _asks(waited)
    if asks:
        with contextlib.suppress(state.Away):
            frequency_caps.renew(asks)


def _asks(deliveries: Iterable[ClaimedDelivery]) -> tuple[list[CapRequest], _Places]:
    """Return the count requests and their deliveries, in the same order."""
    usual = conf.current().caps
    asks: list[CapRequest] = []
    places: _Places = {}
    for claimed in deliveries:
        delivery, notification_id = claimed.delivery, claimed.notification.id
        priority, channel = delivery.priority, delivery.channel
        cap = cap_for(priority, channel, own=claimed.destination.caps, usual=usual)
        if cap is None or delivery.mode is not Mode.LIVE:
            continue
        beside = places.setdefault((notification_id.int, channel), [])
        if not beside:
            window, leaves = Window(delivery.recipient_id, channel), OVER[priority] is Over.LEAVES
            asks.append(CapRequest(notification_id, window, cap, leaves))
        beside.append(claimed)
    return asks, places


def _stop(
    batch: Batch, deliveries: Sequence[ClaimedDelivery], *, cap: Cap, wait: dt.timedelta
) -> None:
    for claimed in deliveries:
        if OVER[claimed.delivery.priority] is Over.WAITS:
            # The worker does not publish the row again: a sweep may merge held rows into a digest.
            batch.decide(claimed, Decision(transition=HOLD, reason=Reason.CAP, due_in=wait))
        else:
            detail = f"the cap is {cap}"
            dropped = Decision(transition=SUPPRESS, reason=Reason.CAPPED, detail=detail)
            batch.decide(claimed, dropped)


def _hold_until_the_state_is_back(batch: Batch, places: _Places) -> None:
    for claimed in (claimed for deliveries in places.values() for claimed in deliveries):
        if OVER[claimed.delivery.priority] is not Over.LEAVES:
            wait = _LOOK_AGAIN * (1 + clock.jitter())
            batch.decide(claimed, Decision(transition=HOLD, reason=Reason.CAP_UNKNOWN, due_in=wait))
