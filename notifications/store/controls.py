"""What operators have set for providers: forced breakers and paces, read again each second.

So an edit in admin acts in every process within two seconds, and a batch asks for both without a
statement of its own. They are a handful of rows.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from notifications import clock
from notifications.models import Breaker, ProviderPace
from notifications.rules.breaker import Forced
from providers.contract import Channel, Pace

Pair = tuple[str, Channel]
"""A provider's name and a channel: what has a breaker."""

_FRESH: Final = 1.0
"""Seconds that they are believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """What differs from the default."""

    forced: Mapping[Pair, Forced]
    paces: Mapping[str, Pace]


def current() -> Controls:
    """What is set now."""
    return _read(int(clock.monotonic() / _FRESH))


def forget() -> None:
    """Read them anew on their next use."""
    _read.cache_clear()


@functools.lru_cache(maxsize=1)
def _read(_moment: int) -> Controls:
    return Controls(
        forced={
            (row.provider, Channel(row.channel)): Forced(row.forced)
            for row in Breaker.objects.exclude(forced=Forced.AUTO)
        },
        paces={
            row.provider: Pace(burst=row.burst, per_second=row.per_second)
            for row in ProviderPace.objects.all()
        },
    )
