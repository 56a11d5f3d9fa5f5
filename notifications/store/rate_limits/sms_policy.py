"""The policy of SMS pumping protection: limits and overrides of the second, learned baselines.

The baselines are read once in five minutes per process, because they change slowly, and the P0 of
producers once in 15 seconds, from the roll-ups.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from notifications import clock
from notifications.models import Producer, SmsLimits, SmsOverride
from notifications.rules.sms_pumping.baselines import Baselines
from notifications.rules.sms_pumping.ceilings import (
    PREFIX_INTERVAL,
    Ceiling,
    CeilingLimits,
    Override,
    Policy,
)
from notifications.store.cached.ttl_cache import Fresh
from notifications.store.postgres import sms_traffic

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


@Fresh
def allowed_countries() -> dict[int, frozenset[str]]:
    """Return the countries to which each producer may send SMS; a missing producer: every one."""
    rows = Producer.objects.exclude(sms_countries=[]).values_list("pk", "sms_countries")
    return {pk: frozenset(countries) for pk, countries in rows}


def is_allowed(producer_id: int, country: str) -> bool:
    """Return True if the producer may send SMS to the country."""
    allowed = allowed_countries().get(producer_id)
    return allowed is None or country in allowed


def forget() -> None:
    """Read the rows again on the next call."""
    current.forget()
    allowed_countries.forget()
    _read_baselines.cache_clear()
    _read_p0.cache_clear()


def _baselines() -> Baselines:
    return _read_baselines(int(clock.monotonic() // _BASELINES_SECONDS))


@functools.lru_cache(maxsize=1)
def _read_baselines(_period: int) -> Baselines:
    return sms_traffic.usual_traffic(today=clock.now().date())


def _p0() -> Mapping[int, int]:
    return _read_p0(int(clock.monotonic() // _P0_SECONDS))


@functools.lru_cache(maxsize=1)
def _read_p0(_period: int) -> Mapping[int, int]:
    return sms_traffic.p0_by_producer(since=clock.now() - PREFIX_INTERVAL)


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
