"""Switches: hold deliveries by an operator's kill switch.

The step `apply_switches` checks every claimed batch, `admission` checks the provider, and `send`
checks again before each wave of calls, so a switch holds rows already published or claimed. A check
reads the cached switches and makes no query.

A held row is due at the end of its time to live, or shortly after the expiry of the switch. So a
million held rows cost nothing while they wait; `operations.switches` and the sweep `release` bring
them forward after a resume.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Final

from notifications.core import conf
from notifications.core.delivery import failover
from notifications.core.delivery.batch import Batch
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules.lane import Lane
from notifications.core.rules.outcomes import Decision
from notifications.core.rules.switches import ActiveSwitch, MessageSource
from notifications.core.rules.times import deferral
from notifications.core.rules.transitions import HOLD
from notifications.core.store.cached import switches
from notifications.core.store.postgres import claims

_SHORTEST: Final = dt.timedelta(seconds=1)
"""Shortest hold, for a switch or a time to live that ends now."""


def apply_switches(batch: Batch) -> None:
    """Hold the deliveries of a batch that a switch stops for any provider."""
    if switches.current():
        hold(batch, messages_to_hold(batch.deliveries, now=batch.now))


def messages_to_hold(
    deliveries: Iterable[ClaimedDelivery], *, now: dt.datetime
) -> list[tuple[ClaimedDelivery, ActiveSwitch]]:
    """Return the deliveries that a switch holds for any provider, with the switch."""
    found = ((claimed, message_switch(claimed, now=now)) for claimed in deliveries)
    return [(claimed, switch) for claimed, switch in found if switch]


def message_switch(claimed: ClaimedDelivery, *, now: dt.datetime) -> ActiveSwitch | None:
    """Return the switch of a delivery for any provider; None: no switch."""
    board = switches.current()
    if not board:
        return None
    sent = claimed.notification
    source = MessageSource(sent.producer_id, sent.type, sent.template, sent.bulk_job_id)
    return board.of_message(source, _lane_of(claimed), now=now)


def divert(
    batch: Batch, deliveries: list[ClaimedDelivery], *, provider: str
) -> tuple[list[ClaimedDelivery], list[ClaimedDelivery]]:
    """Pass deliveries of a held provider to the next provider, or hold the deliveries.

    Returns:
        The deliveries without a switch, and the deliveries for the next provider.
    """
    board, now = switches.current(), batch.now
    found = {
        claimed.delivery.id: switch
        for claimed in (deliveries if board else ())
        if (switch := board.of_provider(provider, _lane_of(claimed), now=now))
    }
    if not found:
        return deliveries, []
    onward, staying = failover.pass_on([each for each in deliveries if each.delivery.id in found])
    hold(batch, [(claimed, found[claimed.delivery.id]) for claimed in staying])
    return [each for each in deliveries if each.delivery.id not in found], onward


def stop_before_calls(
    batch: Batch, deliveries: list[ClaimedDelivery], *, provider: str
) -> list[ClaimedDelivery]:
    """Hold deliveries by switches set after the claim; return the remaining deliveries.

    A delivery with another provider stays in the batch with that provider first.
    """
    if not switches.current():
        return deliveries
    held = messages_to_hold(deliveries, now=batch.now)
    hold(batch, held)
    stopped = {claimed.delivery.id for claimed, _ in held}
    free = [each for each in deliveries if each.delivery.id not in stopped]
    free, _ = divert(batch, free, provider=provider)
    batch.commit()
    return free


def _lane_of(claimed: ClaimedDelivery) -> Lane:
    """Return the lane of a delivery."""
    row = claimed.delivery
    return Lane.of(row.mode, row.priority, row.channel)


def hold(batch: Batch, held: Iterable[tuple[ClaimedDelivery, ActiveSwitch]]) -> None:
    """Hold deliveries; the caller commits the batch.

    Safe if the process dies between the two writes: the lease ends, and the next claim holds the
    row again.
    """
    pairs = list(held)
    if not pairs:
        return
    claims.set_switches(
        {claimed.delivery.id: switch.id for claimed, switch in pairs}, token=batch.token
    )
    for claimed, switch in pairs:
        decision = Decision(
            transition=HOLD,
            reason=switch.kind.reason,
            detail=switch.detail,
            due_in=max(_SHORTEST, _end(claimed, switch) - batch.now),
        )
        batch.decide(claimed, decision)


def _end(claimed: ClaimedDelivery, switch: ActiveSwitch) -> dt.datetime:
    """Return the due time of a hold: a place on the ramp behind the expiry, or the TTL's end."""
    expires_at = claimed.notification.expires_at
    if switch.until is None:
        return expires_at
    place = deferral.place_on(
        conf.current().release_ramp,
        priority=claimed.delivery.priority,
        notification_id=claimed.notification.id,
    )
    return min(switch.until + place, expires_at)
