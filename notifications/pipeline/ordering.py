"""Ordering: deliveries of one ordering key and channel leave one at a time, as they were accepted.

    join    accept gives them their places, in the transaction that stores them
    find    a claim asks which of its deliveries are heads; the last gate holds the others
    step    after the claim: what is settled leaves, and the next one is woken and published

The promise: while no head lets go, the order of the calls that were taken is the order of
acceptance; a retry keeps its place and those behind it wait. A head lets go when nobody knows
whether it was sent, or when it is held for over a minute; its timeline says so, and it may then
come late. One that was cancelled, expired or died is not waited for, and a replay of it has no
place.

A delivery that waits for its turn is due only when its time to live ends. Where a wake-up is lost
with its worker, or a head ends in another way (cancelled, rescued), the sweep `ordering` makes up
for it within seconds. A delivery without an ordering key costs nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from notifications import clock
from notifications.pipeline.batch import Retry
from notifications.pipeline.job import Job
from notifications.store import ordering
from notifications.store.ordering import Queue


def find(jobs: Sequence[Job]) -> Mapping[UUID, Queue]:
    """Tell each job with an ordering key whether another goes first; returns all their queues."""
    ordered = [job for job in jobs if job.asked.ordering_key]
    if not ordered:
        return {}
    queues = ordering.queues_of([job.delivery.id for job in ordered])
    heads, _ = ordering.advance(queues.values())
    for job in ordered:
        job.waits_for_turn = job.delivery.id in queues and job.delivery.id not in heads
    return queues


def step(queues: Mapping[UUID, Queue]) -> list[Retry]:
    """After what became of a claim is committed: the next ones are woken; returns them.

    Safe to run late or never: the sweep looks as well.
    """
    if not queues:
        return []
    # After the other's commit: of two workers that leave and hold at the same moment at least one
    # sees what the other did.
    _, woken = ordering.advance(queues.values())
    return [Retry(each, clock.AT_ONCE) for each in woken]
