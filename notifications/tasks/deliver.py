"""The channel task: one body for every lane, because channels differ by data."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from uuid import UUID

import structlog
from celery import Task, shared_task
from celery.exceptions import Reject
from celery.signals import celeryd_after_setup

from notifications import lanes
from notifications.pipeline import deliver as pipeline

_log = structlog.get_logger(__name__)
_FULL_HOUSE: Final = 0.25
"""Seconds after which a task looks again for a free slot of its channel."""
_PATIENCE: Final = 1.0
"""Seconds that a task waits for one before. As long as a worker's poll of its queues, in which it
leaves out those that it can do nothing for; without what waits here it would run dry meanwhile."""


class _Slots:
    """Where one process serves several channels, none may work in more than half of its slots.

    Half as many more of its tasks may wait for a moment. What comes on top goes back, and the
    channel's queues rest until a slot is free, so that a long backlog does not circle through the
    worker.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        self.share = 0
        """Slots that one channel may hold; 0 for no limit."""

    @contextmanager
    def taken(self, lane: str) -> Iterator[bool]:
        """Hold one slot of the lane's channel; yields False when it has its share already."""
        channel = lane.rpartition(".")[2]
        with self._changed:
            free = self._is_free(channel) or self._comes_free(channel)
            self._busy[channel] += free
        try:
            yield free
        finally:
            with self._changed:
                self._busy[channel] -= free
                if free:
                    lanes.wake(channel)
                    self._changed.notify_all()
                else:
                    lanes.rest(lane)

    def _is_free(self, channel: str) -> bool:
        return not self.share or self._busy[channel] < self.share

    def _comes_free(self, channel: str) -> bool:
        if self._waiting[channel] >= self.share // 2:
            return False
        self._waiting[channel] += 1
        free = self._changed.wait_for(lambda: self._is_free(channel), timeout=_PATIENCE)
        self._waiting[channel] -= 1
        return free


_slots = _Slots()


@celeryd_after_setup.connect
def _set_share(instance: Any, **_signal: object) -> None:  # noqa: ANN401 - Celery is untyped
    """Count the channels that this worker consumes."""
    lanes = [name for name in instance.app.amqp.queues.consume_from if "." in name]
    channels = {name.rpartition(".")[2] for name in lanes}
    _slots.share = max(1, instance.concurrency // 2) if len(channels) > 1 else 0


@shared_task(bind=True, name=lanes.DELIVER, max_retries=None)
def deliver(self: Task[Any, Any], delivery_ids: list[str]) -> None:
    """Deliver a list of ids. Twice is once; never is late by the relay's next look."""
    lane: str = (self.request.delivery_info or {}).get("routing_key", "")
    with _slots.taken(lane) as free:
        if not free:
            _again(self, delivery_ids, _FULL_HOUSE)
            return
        groups = pipeline.deliver([UUID(each) for each in delivery_ids])
    for group in groups:
        later = [each.hex for each in group.delivery_ids]
        _again(self, later, group.countdown.total_seconds())


def _again(task: Task[Any, Any], delivery_ids: list[str], countdown: float) -> None:
    """Publish these again after a wait.

    They are due in Postgres as well, so a failure only makes them late.
    """
    try:
        task.retry(args=(delivery_ids,), countdown=countdown, throw=False)
    except Reject:
        _log.warning("retry_not_published", count=len(delivery_ids), countdown=countdown)
