"""Slots: limits on concurrent tasks in a worker process, by channel and priority."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from notifications.core import clock, lanes
from notifications.core.rules.lane import Priority
from providers.contract import Channel

_BULK: Final = Priority.P3.name.lower()
_SOCIAL: Final = Priority.P2.name.lower()
_URGENT: Final = frozenset(each.name.lower() for each in Priority if each.is_urgent)
_CHANNELS: Final = tuple(each.label for each in Channel)
_PATIENT_SLOTS: Final = 8
"""Concurrent tasks of P2 and P3 that keep a processor busy, including tasks that wait for
answers."""
PATIENCE_SECONDS: Final = 1.0
"""Maximum wait of a task for a slot; then its message is requeued. A worker polls queues as
long."""
_QUIET_SECONDS: Final = 5.0
"""Seconds without a task of another priority after which P3 may use idle slots."""


class Slots:
    """Counts busy slots by channel and priority, and limits each.

    A channel gets half of the slots if the process serves several channels, so that a hung provider
    blocks only its own lanes. P3 gets a quarter while other priorities have work, three quarters
    after some seconds without other work, and all slots of a process that serves only P3.

    A task of P0 or P1 usually has one message and holds its slot until the provider answers, so a
    process that serves P0 or P1 has many slots. A task of P2 or P3 has up to 500 messages, so in
    such a process P2 and P3 share `_PATIENT_SLOTS` slots.

    A group may have half as many waiting tasks as slots. Further tasks are requeued. The queue of a
    waiting task is paused until a slot is free.
    """

    def __init__(
        self,
        *,
        patience_seconds: float = PATIENCE_SECONDS,
        time: Callable[[], float] = clock.monotonic,
    ) -> None:
        self._patience = patience_seconds
        self._changed = threading.Condition()
        self._busy: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        self._limits: Mapping[str, int] = {}
        self._idle_bulk = 0
        self._time = time
        self._others_came_at = float("-inf")
        self.patient = 1
        """The slots for P2 and P3 of one channel."""

    def limit(self, slots: int, *, queues: Collection[str]) -> None:
        """Divide `slots` among the lanes of `queues`."""
        lanes_served = [name.split(".") for name in queues if "." in name]
        channels = {parts[-1] for parts in lanes_served}
        shares = dict.fromkeys(channels, max(1, slots // 2)) if len(channels) > 1 else {}
        has_urgent = any(not _URGENT.isdisjoint(parts) for parts in lanes_served)
        patient = min(slots, _PATIENT_SLOTS) if has_urgent else slots
        self.patient = max(1, patient // 2) if shares else patient
        if patient < slots:
            shares[_SOCIAL] = patient
            shares |= {f"{_SOCIAL}.{each}": patient // 2 for each in channels if each in shares}
        quarter = max(1, patient // 4)
        is_bulk_only = all(_BULK in parts for parts in lanes_served)
        self._limits = {**shares, _BULK: slots if is_bulk_only else quarter}
        self._idle_bulk = slots if is_bulk_only else max(quarter, patient - quarter)

    def of_channels(self) -> dict[str, tuple[int, int]]:
        """Return the busy slots and the slots of each channel with a share of its own."""
        with self._changed:
            return {
                each: (self._busy[each], self._limits[each])
                for each in _CHANNELS
                if each in self._limits
            }

    @contextmanager
    def hold(self, lane: str) -> Iterator[bool]:
        """Hold a slot for a lane; yields False if the channel or priority has no free slot."""
        free = self.take(lane)
        if not free:
            # Before the wait: the consumer would fetch messages for which no task can wait.
            lanes.pause_queue(lane)
            free = self.take(lane, patience_seconds=self._patience)
            if free:  # perhaps without a `give_back` since the pause, and more slots are free
                lanes.resume_queues(self._groups(lane))
        try:
            yield free
        finally:
            if free:
                self.give_back(lane)

    def take(self, lane: str, *, patience_seconds: float = 0.0) -> bool:
        """Take a slot for a lane within `patience_seconds`; release it with `give_back`."""
        groups = self._groups(lane)
        with self._changed:
            if _BULK not in groups:
                self._others_came_at = self._time()
            free = self._is_free(groups) or self._comes_free(groups, patience_seconds)
            if free:
                self._busy.update(groups)
            return free

    def give_back(self, lane: str) -> None:
        """Release a slot of a lane."""
        groups = self._groups(lane)
        with self._changed:
            self._busy.subtract(groups)
            lanes.resume_queues(groups)
            self._changed.notify_all()

    def _groups(self, lane: str) -> list[str]:
        parts = lane.split(".")
        return [each for each in (*parts, ".".join(parts[-2:])) if each in self._limits]

    def _is_free(self, groups: Sequence[str]) -> bool:
        return all(self._busy[group] < self._share(group) for group in groups)

    def _share(self, group: str) -> int:
        if group == _BULK and self._time() - self._others_came_at > _QUIET_SECONDS:
            return self._idle_bulk
        return self._limits[group]

    def _comes_free(self, groups: Sequence[str], seconds: float) -> bool:
        if not seconds or any(
            self._waiting[group] >= max(1, self._limits[group] // 2) for group in groups
        ):
            return False
        self._waiting.update(groups)
        free = self._changed.wait_for(lambda: self._is_free(groups), timeout=seconds)
        self._waiting.subtract(groups)
        return free
