"""Ordering: deliveries with the same ordering key and channel leave one after another.

    accept          inserts deliveries into the ordering queue, in the transaction that stores them
    mark_waiting    marks claimed deliveries behind the head of the queue; the last gate holds them
    publish_next    removes finished deliveries and publishes the next head, after the commit

Provider calls follow the order of acceptance; a retry keeps its position. A head leaves the queue
early if its outcome is unknown, or if it is held for more than a minute; the timeline shows the
reason, and its message may arrive late. A cancelled, expired or dead head leaves the queue at once,
and its replay gets no position.

A waiting delivery comes due only when its time to live ends. The sweep `ordering` publishes the
next head within seconds if a worker did not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from notifications.core import clock
from notifications.core.delivery.batch import Retry
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.store.postgres import ordering_queues
from notifications.core.store.postgres.ordering_queues import Queue


def mark_waiting(deliveries: Sequence[ClaimedDelivery]) -> Mapping[UUID, Queue]:
    """Mark deliveries behind a queue's head; returns the queues of all ordered deliveries."""
    ordered = [claimed for claimed in deliveries if claimed.notification.ordering_key]
    if not ordered:
        return {}
    queues = ordering_queues.queues_of([claimed.delivery.id for claimed in ordered])
    heads, _ = ordering_queues.advance(queues.values())
    for claimed in ordered:
        claimed.waits_for_turn = claimed.delivery.id in queues and claimed.delivery.id not in heads
    return queues


def publish_next(queues: Mapping[UUID, Queue]) -> list[Retry]:
    """Publish the next heads after a claim's commit. Safe to run late or never."""
    if not queues:
        return []
    # Runs after the commit: if two workers finish and hold deliveries of a key at the same time,
    # at least the later one sees the other's changes.
    _, woken = ordering_queues.advance(queues.values())
    return [Retry(each, clock.AT_ONCE) for each in woken]
