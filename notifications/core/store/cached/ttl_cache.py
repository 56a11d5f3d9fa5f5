"""A cache for small tables that operators edit: one second per process."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Generic, TypeVar

from notifications.core import clock

Answer = TypeVar("Answer")


class Fresh(Generic[Answer]):
    """Decorator for a function that reads a table: keeps the result for a second per process."""

    def __init__(self, read: Callable[[], Answer]) -> None:
        self._read = functools.lru_cache(maxsize=1)(lambda _second: read())

    def __call__(self) -> Answer:
        """Return the result of the current second."""
        return self._read(int(clock.monotonic()))

    def forget(self) -> None:
        """Read again on the next call."""
        self._read.cache_clear()
