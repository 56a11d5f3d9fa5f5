"""Small tables that operators edit, read again each second: an edit acts within two seconds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Generic, TypeVar

from notifications import clock

Answer = TypeVar("Answer")


class Fresh(Generic[Answer]):
    """Decorates a function that reads a table: its answer is kept for a second in this process."""

    def __init__(self, read: Callable[[], Answer]) -> None:
        self._read = functools.lru_cache(maxsize=1)(lambda _second: read())

    def __call__(self) -> Answer:
        """Return the answer of this second."""
        return self._read(int(clock.monotonic()))

    def forget(self) -> None:
        """Read again on the next call."""
        self._read.cache_clear()
