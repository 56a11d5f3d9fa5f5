"""Saturation: an alert while all slots of a worker, or all slots of a channel in it, stay busy.

A thread of each worker looks every ten seconds. What was busy at each look for `BUSY_FOR` raises
`workers_busy`. The subject is the work of the process, such as `P0` or `P2 P3 email`, so workers
with the same queues share an alert; the alert ends by time (`rules.alerts.RENEWED`) when the last
of them has a free slot.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from celery.signals import celeryd_after_setup
from celery.worker.state import active_requests

from notifications.core import clock
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import LANES, Mode
from notifications.core.store.postgres import alerts, looks
from notifications.core.tasks.deliver import SLOTS
from providers.contract import Channel

EVERY: Final = dt.timedelta(seconds=10)
"""Between two looks."""
BUSY_FOR: Final = dt.timedelta(minutes=5)
"""Longer than a wave of OTPs; a worker with few tasks has a free slot at one of thirty looks."""
_ALL: Final = ""
"""The key of all slots of the process; the other keys are channels."""


class SlotWatch:
    """Watches the slots of a worker process.

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
        looks.keep_looking(self.look, name="saturation", every=EVERY)

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
def _start(instance: Any, **_signal: object) -> None:  # noqa: ANN401 - Celery is untyped
    """Start the thread of a worker."""

    def shares() -> Mapping[str, tuple[int, int]]:
        return {_ALL: (len(active_requests), instance.concurrency), **SLOTS.of_channels()}

    work = work_of(list(instance.app.amqp.queues.consume_from))
    SlotWatch(instance.hostname, work, shares=shares).start()
