"""The only clock of `providers`. Adapters take the clock as an argument, for tests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def now() -> datetime:
    """Return the present time, in UTC."""
    return datetime.now(UTC)  # noqa: TID251 - providers may not import the application's clock
