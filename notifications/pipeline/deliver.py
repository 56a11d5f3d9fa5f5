"""Deliver: from a list of ids to settled rows. What a channel task does, all of it.

    claim -> load -> gates -> route -> (render -> send -> settle) in waves

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
from notifications.pipeline import gates, job, route, send, settle
from notifications.pipeline.job import Job
from notifications.pipeline.settle import Retry
from notifications.rules.channels import Stop as Reason
from notifications.rules.lane import Mode
from notifications.rules.states import Status
from notifications.store import alerts, moves, vault
from notifications.store.moves import Move
from providers.contract import Provider

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
    passed, again = _through_gates(jobs, token=claim.token)
    for provider, routed in _routed(passed):
        if provider is None:
            again += _hold_without_provider(routed, token=claim.token)
        else:
            again += send.send(routed, provider=provider, token=claim.token)
    return [
        RetryGroup(delivery_ids=together, countdown=delay)
        for delay, together in settle.grouped(again).items()
        if delay <= LONGEST_COUNTDOWN
    ]


def _through_gates(jobs: Iterable[Job], *, token: UUID) -> tuple[list[Job], list[Retry]]:
    """Stop and hold what the gates say; returns what passed, and what is held for a short while."""
    passed: list[Job] = []
    stopped: dict[Status, list[Move]] = defaultdict(list)
    held: list[Move] = []
    sealed: set[UUID] = set()
    now = clock.now()
    for each in jobs:
        match gates.verdict(each, now=now):
            case None:
                passed.append(each)
            case gates.Stop(status=status, reason=reason):
                stopped[status].append(Move(id=each.delivery.id, reason=reason))
                if each.asked.sealed is not None:
                    sealed.add(each.asked.id)
            case gates.Hold(delay=delay, reason=reason):
                held.append(Move(id=each.delivery.id, reason=reason, due_in=delay))
            case never:
                assert_never(never)
    for status, batch in stopped.items():
        moves.move(status, batch, token=token)
    vault.wipe(sealed)
    moves.move(Status.SCHEDULED, held, token=token)
    return passed, [Retry(each.id, each.due_in) for each in held if each.due_in]


def _routed(jobs: Iterable[Job]) -> list[tuple[Provider | None, list[Job]]]:
    by_provider: dict[str, tuple[Provider | None, list[Job]]] = {}
    for each in jobs:
        provider = route.provider_for(each.delivery.channel, each.delivery.mode)
        name = provider.name if provider else ""
        by_provider.setdefault(name, (provider, []))[1].append(each)
    return list(by_provider.values())


def _hold_without_provider(jobs: Sequence[Job], *, token: UUID) -> list[Retry]:
    if jobs[0].delivery.mode is Mode.LIVE:
        channel = jobs[0].delivery.channel.label
        alerts.raise_once("no_provider", channel, f"no provider is configured for {channel}")
    wait = settle.HOLD_FOR_PROVIDER
    held = [Move(id=each.delivery.id, reason="no_provider", due_in=wait) for each in jobs]
    return [Retry(each, wait) for each in moves.move(Status.SCHEDULED, held, token=token)]
