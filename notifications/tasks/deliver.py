"""The channel task: one body for every lane, because channels differ by data."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import structlog
from celery import Task, shared_task
from celery.exceptions import Reject
from celery.signals import celeryd_after_setup

from notifications import lanes
from notifications.pipeline import deliver as pipeline
from notifications.tasks.slots import Slots

_log = structlog.get_logger(__name__)
_FULL_HOUSE: Final = 0.25
"""Seconds after which a task looks again for a free slot of its channel."""
_slots = Slots()


@celeryd_after_setup.connect
def _set_limits(instance: Any, **_signal: object) -> None:  # noqa: ANN401 - Celery is untyped
    """Count the channels that this worker consumes."""
    names = [name for name in instance.app.amqp.queues.consume_from if "." in name]
    _slots.limit(instance.concurrency, channels={name.rpartition(".")[2] for name in names})


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
