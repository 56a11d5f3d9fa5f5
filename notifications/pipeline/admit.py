"""Admit: which of the routed deliveries their providers can take now, and when the others come.

    breaker open      to the next provider; with none, held until a probe and then over a ramp
    a probe           one goes; the others wait for what becomes of it
    a slot to come    held until then; the slot stands on the row and is not asked for again
    no slot           held for as long as those before it will take

One Redis call serves a batch (`store.departures`). A hold spends no attempt. Nobody is asked about
test mode. Urgent holds are published again by their worker; patient ones come due by themselves, so
that the relay decides how many look again while a provider rests or is slow.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, assert_never
from uuid import UUID

from notifications import clock
from notifications.pipeline import fail_over
from notifications.pipeline.batch import LONGEST_COUNTDOWN, Retry
from notifications.pipeline.job import Job
from notifications.rules import bucket
from notifications.rules.breaker import RAMP, Door
from notifications.rules.lane import Mode, Priority
from notifications.rules.reasons import Reason
from notifications.rules.retries import rounded_up
from notifications.rules.transitions import HOLD
from notifications.store import claims, db, departures, transitions
from notifications.store.departures import Answer, Wanted
from notifications.store.transitions import Move, UnderClaim
from providers.contract import Channel, Provider

_FINE: Final = dt.timedelta(seconds=0.25)
"""The grid of slots: their messages are shared, and no slot is over when its message comes."""

Routed = tuple[Provider, list[Job]]


@dataclass(frozen=True, slots=True)
class _Hold:
    """One delivery that waits."""

    job: Job
    reason: str
    wait: dt.timedelta
    slot: dt.timedelta | None = None
    """Until the slot that was just reserved for it."""
    has_slot: bool = False
    """It waits for a slot, one of now or of before."""

    @property
    def is_republished(self) -> bool:
        """Its worker publishes it again; the others come due by themselves."""
        return self.has_slot or self.job.delivery.priority.is_urgent


@dataclass(frozen=True, slots=True)
class Admitted:
    """What became of a batch. The held are committed."""

    going: list[Routed] = field(default_factory=list)
    onward: list[Job] = field(default_factory=list)
    """Turned away by a breaker, each with its next provider first."""
    again: list[Retry] = field(default_factory=list)
    """Those of the held that are to be published again."""


def admit(routed: Iterable[Routed], *, token: UUID, at: dt.datetime) -> Admitted:
    """Ask for deliveries of one claim, by the provider whose turn it is.

    Args:
        routed: who takes which.
        token: the claim's.
        at: Postgres's clock at the claim.
    """
    admitted = Admitted()
    queues: list[_Queue] = []
    for provider, jobs in routed:
        if test := [job for job in jobs if job.delivery.mode is Mode.TEST]:
            admitted.going.append((provider, test))
        queues += _queues(provider, jobs, at=at)
    answers = departures.ask([queue.wanted for queue in queues]) if queues else []
    for queue, answer in zip(queues, answers, strict=True):
        go, rest, held = _split(queue, answer)
        onward, staying = _parted(rest)
        held += _rest(staying, answer.wait, RAMP[queue.priority])
        if go:
            admitted.going.append((queue.provider, go))
        admitted.onward.extend(onward)
        admitted.again.extend(_hold(held, provider=queue.provider.name, token=token))
    return admitted


@dataclass(frozen=True, slots=True)
class _Queue:
    """Live deliveries of one channel and priority that one provider takes."""

    provider: Provider
    channel: Channel
    priority: Priority
    with_slot: list[tuple[Job, dt.timedelta]] = field(default_factory=list)
    """Those that were given a slot before, and how long until it."""
    others: list[Job] = field(default_factory=list)

    @property
    def wanted(self) -> Wanted:
        """The question that it asks."""
        return Wanted(
            pair=(self.provider.name, self.channel),
            priority=self.priority,
            count=len(self.others),
            pace=self.provider.capabilities.pace,
        )


def _queues(provider: Provider, jobs: Iterable[Job], *, at: dt.datetime) -> Iterable[_Queue]:
    queues: dict[tuple[Channel, Priority], _Queue] = {}
    for job in jobs:
        delivery = job.delivery
        if delivery.mode is Mode.TEST:
            continue
        place = delivery.channel, delivery.priority
        queue = queues.get(place)
        if queue is None:
            queue = queues[place] = _Queue(provider, *place)
        has_slot = delivery.slot_at is not None and delivery.slot_provider == provider.name
        wait = bucket.wait_for(delivery.slot_at, now=at) if has_slot else None
        if wait is None:
            queue.others.append(job)
        else:
            queue.with_slot.append((job, wait))
    return queues.values()


def _split(queue: _Queue, answer: Answer) -> tuple[list[Job], list[Job], list[_Hold]]:
    """Who goes, whom the breaker turns away, and who waits for the bucket."""
    everyone = [*(job for job, _ in queue.with_slot), *queue.others]
    match answer.door:
        case Door.OPEN:
            return [], everyone, []
        case Door.PROBE:
            return everyone[:1], everyone[1:], []
        case Door.CLOSED:
            go, held = _by_slots(queue, answer)
            return go, [], held
        case _:
            assert_never(answer.door)


def _parted(jobs: Sequence[Job]) -> tuple[list[Job], list[Job]]:
    """Give those that may go by another provider to it; returns them, and the others."""
    able = [job for job in jobs if len(job.providers) > 1]
    bound = fail_over.perhaps_sent_before(able) if able else set()
    onward: list[Job] = []
    staying: list[Job] = []
    for job in jobs:
        if len(job.providers) > 1 and job.delivery.id not in bound:
            job.providers = job.providers[1:]
            onward.append(job)
        else:
            staying.append(job)
    return onward, staying


def _rest(jobs: Sequence[Job], wait: dt.timedelta, ramp: dt.timedelta) -> list[_Hold]:
    """The first comes as the next probe, the others are spread behind it."""
    spread = [wait, *(wait + clock.jitter() * ramp for _ in jobs[1:])]
    return [_Hold(job, Reason.BREAKER, delay) for job, delay in zip(jobs, spread, strict=False)]


def _by_slots(queue: _Queue, answer: Answer) -> tuple[list[Job], list[_Hold]]:
    go: list[Job] = []
    held: list[_Hold] = []
    for job, wait in queue.with_slot:
        if wait <= bucket.NOW:
            go.append(job)
        else:
            held.append(_Hold(job, Reason.PROVIDER_BUCKET, wait, has_slot=True))
    if answer.slots is None:
        return [*go, *queue.others], held
    for job, slot in zip(queue.others, answer.slots, strict=False):
        if slot <= bucket.NOW:
            go.append(job)
        else:
            held.append(_Hold(job, Reason.PROVIDER_BUCKET, slot, slot=slot, has_slot=True))
    without = queue.others[len(answer.slots) :]
    for place, job in enumerate(without):
        held.append(_Hold(job, Reason.PROVIDER_BUCKET, answer.next_slot + place * answer.spacing))
    return go, held


def _hold(held: Sequence[_Hold], *, provider: str, token: UUID) -> list[Retry]:
    if not held:
        return []
    delays = {each.job.delivery.id: _on_grid(each) for each in held}
    slots = {each.job.delivery.id: each.slot for each in held if each.slot is not None}
    holds = [
        Move(id=each.job.delivery.id, reason=each.reason, due_in=delays[each.job.delivery.id])
        for each in held
    ]

    def work() -> list[UUID]:
        if slots:
            claims.set_slots(slots, provider=provider, token=token)
        return transitions.apply(HOLD, holds, UnderClaim(token))

    moved = set(db.in_transaction(work))
    return [
        Retry(delivery_id, delays[delivery_id])
        for each in held
        if (delivery_id := each.job.delivery.id) in moved
        and each.is_republished
        and delays[delivery_id] <= LONGEST_COUNTDOWN
    ]


def _on_grid(hold: _Hold) -> dt.timedelta:
    """Those that wait for a slot share quarters of a second, so that none comes too late."""
    if hold.has_slot:
        return -(-hold.wait // _FINE) * _FINE
    return rounded_up(hold.wait)
