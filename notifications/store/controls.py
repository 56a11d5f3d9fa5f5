"""Settings of operators for providers: forced breakers and paces."""

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
"""Provider and channel, which have a breaker."""

_FRESH: Final = 1.0
"""Seconds that they are believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """Settings that differ from the default."""

    forced: Mapping[Pair, Forced]
    paces: Mapping[str, Pace]


def current() -> Controls:
    """Read the settings in force."""
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
