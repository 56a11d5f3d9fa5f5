"""Admission: ask circuit breakers and rate limits whether a provider can take deliveries now.

    switch set        next provider; without one, held until the switch ends
    breaker open      next provider; without one, held until a probe is due
    probe due         one delivery goes as the probe; the others wait for the result
    slot reserved     held until the slot; the row keeps the slot and reserves no second slot
    no slot free      held for as long as the deliveries before it need
    endpoint busy     held for a second: the endpoint has too many unanswered calls

One Redis call serves a batch (`store.rate_limits.send_admission`). A hold and a probe count as no
attempt. Deliveries in test mode skip admission. The worker publishes held P0 and P1 again. Held P2
and P3 come due in Postgres, so the relay limits how many deliveries retry while a provider is slow
or its breaker is open.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from notifications.core import clock
from notifications.core.delivery import failover, provider_health, switches
from notifications.core.delivery.batch import Batch
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.outcomes import Decision
from notifications.core.rules.rate_limits import token_bucket
from notifications.core.rules.rate_limits.circuit_breaker import (
    LAST_PROBE_YIELDS_FOR,
    LOOKS_PER_SECOND,
    RAMP,
    BreakerState,
    HealthKey,
)
from notifications.core.rules.reasons import Reason
from notifications.core.rules.transitions import HOLD
from notifications.core.store.postgres import claims
from notifications.core.store.rate_limits import send_admission
from notifications.core.store.rate_limits.send_admission import Admission, AdmissionRequest
from providers.contract import Provider

_BUSY_WAIT: Final = dt.timedelta(seconds=1)
"""Wait of a delivery to a busy endpoint, before jitter of the same length."""
_COARSE: Final = dt.timedelta(seconds=1)
"""Smallest step to which a wait without a slot is rounded."""
_FINE: Final = dt.timedelta(seconds=0.25)
"""Step to which a wait for a slot is rounded."""

Routed = tuple[Provider, list[ClaimedDelivery]]


class _Hold(NamedTuple):
    """A delivery to hold, with reason and wait."""

    claimed: ClaimedDelivery
    reason: Reason
    wait: dt.timedelta
    slot: dt.timedelta | None = None
    """Time until the slot that this call reserved; None if it reserved no slot."""
    has_slot: bool = False
    """True if the delivery waits for a slot, reserved now or earlier."""


def admit(batch: Batch, routed: Iterable[Routed]) -> tuple[list[Routed], list[ClaimedDelivery]]:
    """Admit deliveries to the first provider, or hold the deliveries.

    Returns:
        The admitted deliveries by provider, and the deliveries that an open breaker or a switch
        passed to the next provider.
    """
    going: list[Routed] = []
    onward: list[ClaimedDelivery] = []
    queues: list[_Queue] = []
    for provider, together in routed:
        deliveries, passed = switches.divert(batch, together, provider=provider.name)
        onward += passed
        for claimed in deliveries:
            claimed.is_probe = False  # a probe of another provider before failover
        if test := [claimed for claimed in deliveries if claimed.delivery.mode is Mode.TEST]:
            going.append((provider, test))
        queues += _queues(provider, deliveries, at=batch.claim.at)
    answers = send_admission.check([queue.request for queue in queues]) if queues else []
    for queue, answer in zip(queues, answers, strict=True):
        go, rest, held = _split(queue, answer)
        further, staying = failover.pass_on(rest)
        held += _hold_for_breaker(staying, queue, answer, at=batch.claim.at)
        if go:
            going.append((queue.provider, go))
        onward += further
        _hold(batch, held, provider=queue.provider.name)
    batch.commit()
    return going, onward


@dataclass(frozen=True, slots=True, kw_only=True)
class _Queue:
    """Live deliveries of the same priority to the same provider or endpoint."""

    provider: Provider
    key: HealthKey
    priority: Priority
    with_slot: list[tuple[ClaimedDelivery, dt.timedelta]] = field(default_factory=list)
    """Deliveries with a reserved slot, and the time until the slot."""
    others: list[ClaimedDelivery] = field(default_factory=list)

    @property
    def deliveries(self) -> list[ClaimedDelivery]:
        """All deliveries, with reserved slots first."""
        return [*(claimed for claimed, _ in self.with_slot), *self.others]

    @property
    def request(self) -> AdmissionRequest:
        """The request for `send_admission.check`."""
        alone = [claimed for claimed in self.deliveries if len(claimed.providers) == 1]
        candidates = alone or self.deliveries
        return AdmissionRequest(
            key=self.key,
            priority=self.priority,
            count=len(self.others),
            with_slot=len(self.with_slot),
            pace=self.provider.capabilities.pace,
            candidates=[claimed.delivery.id for claimed in candidates[:2]],
            is_alone=bool(alone),
        )


def _queues(
    provider: Provider, deliveries: Iterable[ClaimedDelivery], *, at: dt.datetime
) -> Iterable[_Queue]:
    queues: dict[tuple[HealthKey, Priority], _Queue] = {}
    for claimed in deliveries:
        delivery = claimed.delivery
        if delivery.mode is Mode.TEST:
            continue
        place = provider_health.key_of(claimed, provider), delivery.priority
        queue = queues.get(place)
        if queue is None:
            queue = queues[place] = _Queue(provider=provider, key=place[0], priority=place[1])
        has_slot = delivery.slot_at is not None and delivery.slot_provider == provider.name
        wait = token_bucket.wait_for(delivery.slot_at, now=at) if has_slot else None
        if wait is None:
            queue.others.append(claimed)
        else:
            queue.with_slot.append((claimed, wait))
    return queues.values()


def _split(
    queue: _Queue, answer: Admission
) -> tuple[list[ClaimedDelivery], list[ClaimedDelivery], list[_Hold]]:
    """Split a queue by the breaker's state: admitted, stopped by the breaker, held for a slot."""
    match answer.state:
        case BreakerState.OPEN:
            return [], queue.deliveries, []
        case BreakerState.HALF_OPEN:
            probes = [
                claimed for claimed in queue.deliveries if claimed.delivery.id == answer.probe
            ]
            for probe in probes:
                probe.is_probe = True
            return probes, [claimed for claimed in queue.deliveries if not claimed.is_probe], []
        case BreakerState.CLOSED:
            go, held = _by_slots(queue, answer)
            return go, [], held


def _hold_for_breaker(
    deliveries: Sequence[ClaimedDelivery], queue: _Queue, answer: Admission, *, at: dt.datetime
) -> list[_Hold]:
    """Hold deliveries of an open breaker until the next probe, spread over time.

    A hold ends with the time to live at the latest.
    """
    reason = Reason.ENDPOINT if queue.key.endpoint else Reason.BREAKER
    held = []
    # The last probe failed and goes to the end, or else it would be the next probe as well.
    ordered = sorted(deliveries, key=lambda claimed: claimed.delivery.id == answer.probe)
    for place, claimed in enumerate(ordered):
        wait = answer.wait + _spread(queue.priority, place)
        if claimed.delivery.id == answer.probe:
            wait += LAST_PROBE_YIELDS_FOR
        held.append(_Hold(claimed, reason, min(wait, max(claimed.time_to_live(at), _FINE))))
    return held


def _spread(priority: Priority, place: int) -> dt.timedelta:
    if priority.is_urgent:
        return dt.timedelta(seconds=place / LOOKS_PER_SECOND)
    return clock.jitter() * RAMP if place else dt.timedelta(0)


def _by_slots(queue: _Queue, answer: Admission) -> tuple[list[ClaimedDelivery], list[_Hold]]:
    go: list[ClaimedDelivery] = []
    held: list[_Hold] = []
    for claimed, wait in queue.with_slot:
        if wait <= token_bucket.NOW:
            go.append(claimed)
        else:
            held.append(_Hold(claimed, Reason.PROVIDER_BUCKET, wait, has_slot=True))
    if answer.slots is None:
        go += queue.others[: answer.room]
        return go, held + _busy(queue.others[answer.room :])
    for claimed, slot in zip(queue.others, answer.slots, strict=False):
        if slot <= token_bucket.NOW:
            go.append(claimed)
        else:
            held.append(_Hold(claimed, Reason.PROVIDER_BUCKET, slot, slot=slot, has_slot=True))
    without = queue.others[len(answer.slots) :]
    if len(answer.slots) == answer.room:
        return go, held + _busy(without)
    for place, claimed in enumerate(without):
        held.append(
            _Hold(claimed, Reason.PROVIDER_BUCKET, answer.next_slot + place * answer.spacing)
        )
    return go, held


def _busy(deliveries: Iterable[ClaimedDelivery]) -> list[_Hold]:
    return [
        _Hold(claimed, Reason.ENDPOINT_BUSY, _BUSY_WAIT * (1 + clock.jitter()))
        for claimed in deliveries
    ]


def _hold(batch: Batch, held: Sequence[_Hold], *, provider: str) -> None:
    slots = {each.claimed.delivery.id: each.slot for each in held if each.slot is not None}
    if slots:
        claims.set_slots(slots, provider=provider, token=batch.token)
    for each in held:
        wait = _on_grid(each)
        is_republished = each.has_slot or each.claimed.delivery.priority.is_urgent
        hold = Decision(
            transition=HOLD,
            reason=each.reason,
            due_in=wait,
            republish_in=wait if is_republished else None,
        )
        batch.decide(each.claimed, hold)


def _on_grid(hold: _Hold) -> dt.timedelta:
    """Round a wait up, so that rows with almost equal waits share a message.

    A wait for a slot is rounded to a quarter of a second, because a late delivery would miss the
    slot. Other waits are rounded to a second, or to an eighth of the wait.
    """
    step = _FINE if hold.has_slot else _COARSE
    while not hold.has_slot and step * 8 <= hold.wait:
        step *= 2
    return -(-hold.wait // step) * step
