"""The policy of SMS pumping protection: limits and overrides of the second, learned baselines.

The baselines are read once in five minutes per process, because they change slowly, and the P0 of
producers once in 15 seconds, from the roll-ups.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from notifications.core import clock
from notifications.core.store.cached.ttl_cache import Fresh
from notifications.features.sms_pumping import traffic_rows
from notifications.features.sms_pumping.models import SmsLimits, SmsOverride
from notifications.features.sms_pumping.rules.baselines import Baselines
from notifications.features.sms_pumping.rules.ceilings import (
    PREFIX_INTERVAL,
    Ceiling,
    CeilingLimits,
    Override,
    Policy,
)

_BASELINES_SECONDS: Final = 300
_P0_SECONDS: Final = 15


@Fresh
def current() -> Policy:
    """Return the policy."""
    row = SmsLimits.objects.first()
    limits = CeilingLimits() if row is None else _limits(row)
    return Policy(
        limits, _baselines(), [_override(each) for each in SmsOverride.objects.all()], _p0()
    )


def forget() -> None:
    """Read the rows again on the next call."""
    current.forget()
    _read_baselines.cache_clear()
    _read_p0.cache_clear()


def _baselines() -> Baselines:
    return _read_baselines(int(clock.monotonic() // _BASELINES_SECONDS))


@functools.lru_cache(maxsize=1)
def _read_baselines(_period: int) -> Baselines:
    return traffic_rows.usual_traffic(today=clock.now().date())


def _p0() -> Mapping[int, int]:
    return _read_p0(int(clock.monotonic() // _P0_SECONDS))


@functools.lru_cache(maxsize=1)
def _read_p0(_period: int) -> Mapping[int, int]:
    return traffic_rows.p0_by_producer(since=clock.now() - PREFIX_INTERVAL)


def _limits(row: SmsLimits) -> CeilingLimits:
    return CeilingLimits(
        address=row.address_limit,
        prefix_floor=row.prefix_floor,
        country_floor=row.country_floor,
        growth=row.growth_percent / 100,
        is_enforced=row.is_enforced,
    )


def _override(row: SmsOverride) -> Override:
    return Override(Ceiling(row.ceiling), row.value, row.limit, row.ends_at)
