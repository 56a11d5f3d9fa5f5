"""The router's rows as rules, read again each second.

So an edit in admin acts in every process within two seconds, and a batch asks for them without a
statement of its own. They are a handful: a version to compare would cost as much as the rows.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from notifications import clock
from notifications.models import ProviderRoute
from notifications.rules.routing import Rule
from providers.contract import Channel

_FRESH: Final = 1.0
"""Seconds that they are believed."""


def current() -> Mapping[Channel, Sequence[Rule]]:
    """The enabled rules of each channel that has any."""
    return _read(int(clock.monotonic() / _FRESH))


def forget() -> None:
    """Read them anew on their next use."""
    _read.cache_clear()


@functools.lru_cache(maxsize=1)
def _read(_moment: int) -> dict[Channel, list[Rule]]:
    rules: dict[Channel, list[Rule]] = defaultdict(list)
    for row in ProviderRoute.objects.filter(is_enabled=True):
        channel = Channel(row.channel)
        rule = Rule(
            channel=channel,
            provider=row.provider,
            region=row.region,
            platform=row.platform,
            rank=row.rank,
            weight=row.weight,
        )
        rules[channel].append(rule)
    return dict(rules)
