"""The channel tasks `deliver_push`, `deliver_sms` and so on, with a common body.

Each channel has a task, so that Flower shows its name. The queue is the lane (priority and mode).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final
from uuid import UUID, uuid4

import structlog
from celery import Task, shared_task
from celery.exceptions import Ignore, Reject, Retry
from celery.signals import celeryd_after_setup, worker_shutting_down
from celery.worker.state import active_requests

from notifications.core import broker, clock, lanes, stopping
from notifications.core.delivery import deliver
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import LANE_NAMED, LANES, Mode, queue_of
from notifications.core.store.postgres import alerts, looks
from notifications.core.tasks.slots import Slots
from providers.contract import Channel

_log = structlog.get_logger(__name__)
_SLOT_RETRY_SECONDS: Final = 0.25
"""Seconds until a task without a free slot runs again."""
SLOTS: Final = Slots()
"""The slots of the process."""

LOOK_EVERY: Final = dt.timedelta(seconds=10)
"""Between two looks."""
BUSY_FOR: Final = dt.timedelta(minutes=5)
"""Longer than a wave of OTPs; a worker with few tasks has a free slot at one of thirty looks."""
_ALL_SLOTS: Final = ""
"""The key of all slots of the process; the other keys are channels."""


class TryAgain(Exception):
    """Deliveries are published again after a wait; Flower shows the reason."""


@celeryd_after_setup.connect
def _set_limits(instance: Any, **_signal: object) -> None:  # noqa: ANN401 - Celery is untyped
    """Divide the worker's slots among the lanes of its queues."""
    SLOTS.limit(instance.concurrency, queues=list(instance.app.amqp.queues.consume_from))


@worker_shutting_down.connect
def _stop(**_signal: object) -> None:
    """Set the stop flag on SIGTERM."""
    stopping.begin(at=clock.monotonic())


def _deliver(
    self: Task[Any, Any], delivery_ids: list[str], due: tuple[int, str, str] | None = None
) -> None:
    """Deliver ids, or due rows of the lane. Duplicates and lost messages are harmless.

    Args:
        self: the task.
        delivery_ids: the rows; the rows of a lost message come due in Postgres.
        due: in place of ids, the fields of `lanes.LaneMessage`. Without a free slot the task ends.

    Raises:
        Reject: the process stops; the message returns to its queue.
        Retry: some deliveries are published again after a wait.
    """
    if stopping.is_stopping():
        raise Reject(requeue=True)
    lane = queue_of((self.request.delivery_info or {}).get("routing_key", ""))
    with SLOTS.hold(lane) as free:
        if not free and due:
            return  # the rows stay due, and the relay publishes a message again
        if not free:
            raise (
                _publish_again(self, lane, delivery_ids, countdown=_SLOT_RETRY_SECONDS) or Ignore()
            )
        if due:
            work = lanes.LaneMessage(*due)
            groups = deliver.deliver_due(LANE_NAMED[lane], work.span, rows=work.rows)
        else:
            groups = deliver.deliver([UUID(each) for each in delivery_ids], lane=lane)
    retry: Retry | None = None
    for group in groups:
        later = [each.hex for each in group.delivery_ids]
        # Each further group gets a new id, so that Flower shows all groups.
        options = {"task_id": str(uuid4())} if retry else {}
        seconds = group.countdown.total_seconds()
        retry = _publish_again(self, lane, later, countdown=seconds, **options) or retry
    if retry:
        raise retry


def _publish_again(
    task: Task[Any, Any], lane: str, delivery_ids: list[str], *, countdown: float, **options: str
) -> Retry | None:
    """Publish deliveries again after a wait; returns the exception to raise, which Flower shows.

    Returns None if publishing failed: the rows come due in Postgres, a little later.
    """
    text = lanes.describe(lane, len(delivery_ids))
    countdown = broker.countdown(countdown)
    if not broker.takes_messages():
        return None
    try:
        with lanes.lent_producer() as producer:
            return task.retry(
                args=(delivery_ids,),
                countdown=countdown,
                queue=lane,  # else Celery takes the default queue for a second wait on RabbitMQ
                producer=producer,
                exc=TryAgain(f"{text} in {countdown:g} s"),
                throw=False,
                argsrepr=text,
                kwargsrepr="",
                **options,
            )
    except (Reject, *broker.errors()) as error:
        # `retry` wraps the client's error; the connection is lent before it.
        reason = error.reason if isinstance(error, Reject) else error
        if isinstance(reason, broker.errors()):
            broker.record_failure(reason)
        _log.warning(
            "retry_not_published",
            count=len(delivery_ids),
            countdown=countdown,
            reason=type(reason).__name__,
        )
        return None


class SlotWatch:
    """Watches the slots of a worker process.

    A thread of each worker looks every ten seconds. What was busy at each look for `BUSY_FOR`
    raises `workers_busy`. The subject is the work of the process, such as `P0` or `P2 P3 email`, so
    workers with the same queues share an alert; the alert ends by time (`rules.alerts.RENEWED`)
    when the last of them has a free slot.

    Args:
        process: the name of the process, such as `worker@host`.
        work: the subject of the alert (`work_of`).
        shares: returns busy slots and slots by channel, and those of the process as `""`.
    """

    def __init__(
        self, process: str, work: str, *, shares: Callable[[], Mapping[str, tuple[int, int]]]
    ) -> None:
        self._process = process
        self._work = work
        self._shares = shares
        self._since: dict[str, float] = {}

    def start(self) -> None:
        """Look until the process ends."""
        looks.keep_looking(self.look, name="saturation", every=LOOK_EVERY)

    def look(self) -> None:
        """Look once; raise the alerts about slots that have been busy for long."""
        full = {key: slots for key, (busy, slots) in self._shares().items() if busy >= slots}
        self._since = {key: self._since.get(key, clock.steady()) for key in full}
        for key, slots in full.items():
            lasts = clock.steady() - self._since[key]
            if lasts >= BUSY_FOR.total_seconds():
                since = clock.now() - dt.timedelta(seconds=lasts)
                detail = (
                    f"{self._process} has had {slots} of {slots} slots busy at each look since"
                    f" {since:%Y-%m-%d %H:%M} UTC"
                )
                alerts.raise_once(AlertKind.WORKERS_BUSY, f"{self._work} {key}".strip(), detail)


def work_of(queues: Collection[str]) -> str:
    """Return the work of a worker in words: the priorities, and the channels unless it has all."""
    served = [lane for lane in LANES if lane.mode is Mode.LIVE and lane.name in queues]
    if not served:
        return " ".join(sorted(queues))
    priorities = sorted({lane.priority.name for lane in served})
    channels = sorted({lane.channel for lane in served})
    named = [] if len(channels) == len(Channel) else [each.label for each in channels]
    return " ".join([*priorities, *named])


@celeryd_after_setup.connect
def _watch_slots(instance: Any, **_signal: object) -> None:  # noqa: ANN401 - Celery is untyped
    """Start the thread of a worker."""

    def shares() -> Mapping[str, tuple[int, int]]:
        return {_ALL_SLOTS: (len(active_requests), instance.concurrency), **SLOTS.of_channels()}

    work = work_of(list(instance.app.amqp.queues.consume_from))
    SlotWatch(instance.hostname, work, shares=shares).start()


TASKS: Final = {
    channel: shared_task(bind=True, name=lanes.task_name(channel), max_retries=None)(_deliver)
    for channel in Channel
}
"""The task of each channel."""
