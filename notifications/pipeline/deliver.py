"""Deliver: from a list of ids to settled rows. What a channel task does, all of it.

    claim -> load -> gates -> cap -> route -> admit -> (render -> send -> settle) in waves
                                       ^       |           '-> fail over: the next provider, at once
                                       '-------'-------------'

Two tasks with the same id are harmless: the claim gives it to one. A task that dies leaves leases
that run out.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, assert_never
from uuid import UUID

from notifications import clock
from notifications.pipeline import admit, cap, gates, in_order, job, route, send, settle
from notifications.pipeline.job import Job
from notifications.pipeline.settle import Retry
from notifications.rules.channels import Stop as Reason
from notifications.rules.lane import Mode
from notifications.rules.states import Status
from notifications.store import alerts, moves, vault
from notifications.store.moves import Claimed, Move

LONGEST_COUNTDOWN: Final = dt.timedelta(seconds=120)
"""A longer wait is only a row: a countdown lives in a worker's memory and in the broker's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryGroup:
    """Deliveries to be published again together. They come due by themselves if that fails."""

    delivery_ids: list[UUID]
    countdown: dt.timedelta


def deliver(delivery_ids: Sequence[UUID]) -> list[RetryGroup]:
    """Deliver what may leave of these; returns what is to be retried soon, in few groups.

    Safe to run twice, late, or never: see `sweeps`.
    """
    claim = moves.claim(delivery_ids, now=clock.now())
    if not claim.deliveries:
        return []
    jobs, orphans = job.load(claim)
    gone = [Move(id=each.id, reason=Reason.NO_CONTACT, detail="erased") for each in orphans]
    moves.move(Status.SUPPRESSED, gone, token=claim.token)
    places = in_order.find(jobs)
    passed, again = _through_gates(jobs, token=claim.token)
    passed = cap.let_pass(passed, token=claim.token)
    route.assign(passed)
    again += _sent(passed, claim)
    again += in_order.step(places)
    return [
        RetryGroup(delivery_ids=together, countdown=delay)
        for delay, together in settle.grouped(again).items()
        if delay <= LONGEST_COUNTDOWN
    ]


def _through_gates(jobs: Iterable[Job], *, token: UUID) -> tuple[list[Job], list[Retry]]:
    """Stop and hold what the gates say; returns what passed, and what is held for a short while."""
    passed: list[Job] = []
    stopped: dict[Status, list[Move]] = defaultdict(list)
    ended: list[Claimed] = []
    held: list[Move] = []
    sealed: set[UUID] = set()
    now = clock.now()
    for each in jobs:
        match gates.verdict(each, now=now):
            case None:
                passed.append(each)
            case gates.Stop(status=status, reason=reason):
                stopped[status].append(Move(id=each.delivery.id, reason=reason))
                ended.append(each.delivery)
                if each.asked.sealed is not None:
                    sealed.add(each.asked.id)
            case gates.Hold(delay=delay, reason=reason):
                held.append(Move(id=each.delivery.id, reason=reason, due_in=delay))
            case never:
                assert_never(never)
    moved: set[UUID] = set()
    for status, batch in stopped.items():
        moved.update(moves.move(status, batch, token=token))
    cap.refund(ended, moved=moved)
    vault.wipe(sealed)
    moves.move(Status.SCHEDULED, held, token=token)
    again = [each for each in held if each.reason != gates.ORDER]
    return passed, [Retry(each.id, each.due_in) for each in again if each.due_in]


def _sent(jobs: Sequence[Job], claim: moves.Claim) -> list[Retry]:
    """Send each job by its first provider, and what that one could not take by its next."""
    again: list[Retry] = []
    while jobs:
        routed: list[admit.Routed] = []
        for name, together in _by_provider(jobs).items():
            provider = route.provider_named(name)
            if provider is None:
                again += _hold_without_provider(together, token=claim.token)
            else:
                routed.append((provider, together))
        admitted = admit.admit(routed, token=claim.token, at=claim.at)
        again += admitted.again
        onward = admitted.onward
        for taker, together in admitted.going:
            again += send.send(together, provider=taker, token=claim.token)
            onward += [each for each in together if each.providers[0] != taker.name]
        jobs = onward
    return again


def _by_provider(jobs: Iterable[Job]) -> dict[str, list[Job]]:
    grouped: dict[str, list[Job]] = defaultdict(list)
    for each in jobs:
        grouped[each.providers[0] if each.providers else ""].append(each)
    return grouped


def _hold_without_provider(jobs: Sequence[Job], *, token: UUID) -> list[Retry]:
    if jobs[0].delivery.mode is Mode.LIVE:
        channel = jobs[0].delivery.channel.label
        alerts.raise_once("no_provider", channel, f"no provider is configured for {channel}")
    wait = settle.HOLD_FOR_PROVIDER
    held = [Move(id=each.delivery.id, reason="no_provider", due_in=wait) for each in jobs]
    return [Retry(each, wait) for each in moves.move(Status.SCHEDULED, held, token=token)]
