"""Answers shared by all readers of a process for a few seconds.

For twenty open consoles with the same question one thread computes the answer; the other threads
wait for the answer or take the kept answer. So the number of readers does not raise the number of
queries.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

from notifications.core import clock

Answer = TypeVar("Answer")

_MOST: Final = 200
"""Answers that a process keeps; the oldest one goes."""


class _Slot:
    """An answer and its time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.computed_at = float("-inf")
        self.answer: Any = None


_slots: dict[Hashable, _Slot] = {}
_lock = threading.Lock()


def get(key: Hashable, compute: Callable[[], Answer], *, seconds: float) -> Answer:
    """Return the answer of `key`, computed again if the kept answer is older than `seconds`."""
    with _lock:
        slot = _slots.pop(key, None) or _Slot()
        _slots[key] = slot  # the key moves to the end: the first key is the one that waits longest
        if len(_slots) > _MOST:
            del _slots[next(iter(_slots))]
    with slot.lock:
        if clock.monotonic() - slot.computed_at >= seconds:
            slot.answer = compute()
            slot.computed_at = clock.monotonic()
        found: Answer = slot.answer
        return found


def forget() -> None:
    """Drop all answers."""
    with _lock:
        _slots.clear()
