"""The router's table: what a type of notification means, believed for a second."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from notifications import clock
from notifications.models import NotificationType
from notifications.rules.lane import Priority

_FRESH: Final = 1.0
"""Seconds that the table is believed: an edit acts within two seconds everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRule:
    """The router's rule of a type."""

    priority: Priority
    category: str
    retry_preset: str
    digest_template: str = ""
    """Template of one message in place of many that a cap held back; empty: none."""


@functools.lru_cache(maxsize=1)
def _types(_moment: int) -> dict[str, TypeRule]:
    return {
        row.name: TypeRule(
            priority=Priority(row.priority),
            category=row.category,
            retry_preset=row.retry_preset,
            digest_template=row.digest_template,
        )
        for row in NotificationType.objects.all()
    }


def every() -> Mapping[str, TypeRule]:
    """Each type's rule by its name, read again each second."""
    return _types(int(clock.monotonic() / _FRESH))


def forget() -> None:
    """Read the table anew on its next use."""
    _types.cache_clear()
