"""Ordering: deliveries of one ordering key and channel leave one at a time, as accepted.

    join    accept gives deliveries their places, in the transaction that stores them
    find    a claim asks which deliveries are heads; the last gate holds the others
    step    after the claim: settled deliveries leave, and the next delivery is woken and published

Calls are made in the order of acceptance; a retry keeps the place. A head lets go when its outcome
is unknown, or when it is held for over a minute; the timeline says so, and the message may come
late. A cancelled, expired or dead head is not waited for, and a replay of it has no place.

A waiting delivery is due only when its time to live ends. The sweep `ordering` repairs a lost
wake-up within seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from notifications import clock
from notifications.delivery.batch import Retry
from notifications.delivery.claimed import Job
from notifications.store.postgres import ordering_queues
from notifications.store.postgres.ordering_queues import Queue


def find(jobs: Sequence[Job]) -> Mapping[UUID, Queue]:
    """Mark jobs that must wait for another delivery; returns the queues of all ordered jobs."""
    ordered = [job for job in jobs if job.asked.ordering_key]
    if not ordered:
        return {}
    queues = ordering_queues.queues_of([job.delivery.id for job in ordered])
    heads, _ = ordering_queues.advance(queues.values())
    for job in ordered:
        job.waits_for_turn = job.delivery.id in queues and job.delivery.id not in heads
    return queues


def step(queues: Mapping[UUID, Queue]) -> list[Retry]:
    """Wake the next deliveries after a claim is committed. Safe to run late or never."""
    if not queues:
        return []
    # After the other's commit: of two workers that leave and hold at the same moment at least one
    # sees what the other did.
    _, woken = ordering_queues.advance(queues.values())
    return [Retry(each, clock.AT_ONCE) for each in woken]
