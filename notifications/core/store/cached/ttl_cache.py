"""A cache for small tables that operators edit: one second per process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from notifications.core import clock

Answer = TypeVar("Answer")


class _Kept(NamedTuple, Generic[Answer]):
    second: int
    answer: Answer
    version: object
    """The version of the cache at the beginning of the read."""


class Fresh(Generic[Answer]):
    """Decorator for a function that reads a table: keeps the result for a second per process.

    One thread reads a new result. Other threads take the result of the second before meanwhile, so
    a result is less than two seconds old; without such a result each thread reads.
    """

    def __init__(self, read: Callable[[], Answer]) -> None:
        self._read = read
        self._refreshing = threading.Lock()
        self._kept: _Kept[Answer] | None = None
        self._version = object()
        """Each `forget` sets another one. A number would miss one of two calls at the same time."""

    def __call__(self) -> Answer:
        """Return the result of the current second, or of the second before during a read."""
        second, kept = int(clock.monotonic()), self._kept
        if kept is not None and kept.version is not self._version:
            kept = None
        if kept is not None and kept.second == second:
            return kept.answer
        if self._refreshing.acquire(blocking=False):
            try:
                return self._refresh(second)
            finally:
                self._refreshing.release()
        if kept is not None and kept.second == second - 1:
            return kept.answer
        return self._refresh(second)

    def forget(self) -> None:
        """Read again on the next call; the result of a read that has begun is not kept."""
        self._version = object()

    def _refresh(self, second: int) -> Answer:
        version = self._version
        answer = self._read()
        self._kept = _Kept(second, answer, version)
        return answer
