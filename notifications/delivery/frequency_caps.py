"""Frequency caps: hold or drop deliveries above the recipient's cap.

Caps are counted after all gates, so held and stopped deliveries do not count. One Redis call counts
a batch; a batch without caps needs no call. Deliveries that admission holds are counted again when
they leave (`renew`). While the state Redis is away, P1 leaves and P2 and P3 wait. Deliveries in
test mode have no cap.

A delivery that ends unsent gets its count refunded. The refund needs a row changed under the
claim's own token, so a worker whose lease expired refunds no count.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from notifications import clock, conf
from notifications.delivery.batch import Batch
from notifications.delivery.claimed import Job
from notifications.rules import ids
from notifications.rules.lane import Mode
from notifications.rules.outcomes import Decision
from notifications.rules.rate_limits.frequency_caps import OVER, Cap, Over, cap_for
from notifications.rules.reasons import Reason
from notifications.rules.transitions import HOLD, SUPPRESS
from notifications.store.rate_limits import frequency_caps
from notifications.store.rate_limits.frequency_caps import CapRequest, Window
from notifications.store.redis import state
from providers.contract import Channel

_LOOK_AGAIN: Final = dt.timedelta(seconds=15)
"""Wait of rows while the state Redis is away; the jitter is as long again."""

_RENEWED_AFTER: Final = dt.timedelta(minutes=1)
"""A delivery keeps its first count if it leaves sooner than this after its acceptance."""

_Places = dict[tuple[UUID, Channel], list[Job]]
"""Live deliveries with a cap, by notification and channel: a notification counts once on a
channel."""


def apply_caps(batch: Batch) -> None:
    """Count the deliveries of a batch; hold or drop deliveries above the cap."""
    asks, places = _asks(batch.jobs)
    if not asks:
        return
    try:
        waits = frequency_caps.count(asks)
    except state.Away:
        _hold_until_the_state_is_back(batch, places)
        return
    for ask, jobs, wait in zip(asks, places.values(), waits, strict=True):
        if wait:
            _stop(batch, jobs, cap=ask.cap, wait=wait)


def renew(jobs: Iterable[Job]) -> None:
    """Count delayed deliveries again, at the time they leave.

    After an outage as long as the window, a recipient would otherwise get twice the cap: delayed
    and new deliveries. While the state Redis is away, the earlier count stays.
    """
    waited = [
        job
        for job in jobs
        if job.delivery.claimed_at - ids.time_of(job.delivery.id) > _RENEWED_AFTER
    ]
    asks, _ = _asks(waited)
    if asks:
        with contextlib.suppress(state.Away):
            frequency_caps.renew(asks)


def _asks(jobs: Iterable[Job]) -> tuple[list[CapRequest], _Places]:
    """Return the count requests and their deliveries, in the same order."""
    usual = conf.current().caps
    asks: list[CapRequest] = []
    places: _Places = {}
    for job in jobs:
        delivery = job.delivery
        priority, channel = delivery.priority, delivery.channel
        cap = cap_for(priority, channel, own=job.destination.caps, usual=usual)
        if cap is None or delivery.mode is not Mode.LIVE:
            continue
        beside = places.setdefault((job.asked.id, channel), [])
        if not beside:
            window = Window(delivery.recipient_id, channel)
            asks.append(CapRequest(job.asked.id, window, cap, OVER[priority] is Over.LEAVES))
        beside.append(job)
    return asks, places


def _stop(batch: Batch, jobs: Sequence[Job], *, cap: Cap, wait: dt.timedelta) -> None:
    for job in jobs:
        if OVER[job.delivery.priority] is Over.WAITS:
            # The worker does not publish the row again: a sweep may merge held rows into a digest.
            batch.decide(job, Decision(transition=HOLD, reason=Reason.CAP, due_in=wait))
        else:
            detail = f"the cap is {cap}"
            dropped = Decision(transition=SUPPRESS, reason=Reason.CAPPED, detail=detail)
            batch.decide(job, dropped)


def _hold_until_the_state_is_back(batch: Batch, places: _Places) -> None:
    for job in (job for jobs in places.values() for job in jobs):
        if OVER[job.delivery.priority] is not Over.LEAVES:
            wait = _LOOK_AGAIN * (1 + clock.jitter())
            batch.decide(job, Decision(transition=HOLD, reason=Reason.CAP_UNKNOWN, due_in=wait))
