"""The P0 and P1 SMS of the last interval by prefix and country, beside their ceilings."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Final, NamedTuple

from notifications.core.models import Producer
from notifications.core.rules import phone
from notifications.core.store.redis import state
from notifications.features.sms_pumping import counts
from notifications.features.sms_pumping import policy as sms_policy
from notifications.features.sms_pumping.rules import baselines, ceilings
from notifications.features.sms_pumping.rules.ceilings import NO_CEILING, Ceiling, Policy, Share

MOST: Final = 25
"""Prefixes and countries that are shown, those nearest to their ceilings."""
_RANGE_LENGTH: Final = 12
"""Digits of the number that stands for a prefix in the search for its country."""


class TrafficLine(NamedTuple):
    """A prefix or a country."""

    ceiling: Ceiling
    name: str
    country: str
    producer: str
    """Empty: all producers."""
    sms: int
    """SMS in the last 10 minutes (prefix) or hour (country)."""
    limit: int | None
    """The ceiling now; None: no ceiling."""
    usual: int
    """Learned peak; 0: not learned."""
    refused: int
    """Refused SMS of the last 10 to 20 minutes."""


def lines(*, now: dt.datetime) -> list[TrafficLine] | None:
    """Return the prefixes and countries nearest to the ceilings; None without the state Redis."""
    try:
        prefixes = _sums(counts.PREFIXES, ceilings.PREFIX_INTERVAL, now=now)
        countries = _sums(counts.COUNTRIES, ceilings.COUNTRY_INTERVAL, now=now)
        number = int(now.timestamp() // ceilings.PREFIX_INTERVAL.total_seconds())
        refusals = counts.refusals([number - 1, number])
    except state.Away:
        return None
    refused: dict[tuple[Ceiling, str, int], int] = {}
    for each in refusals:
        is_own = each.ceiling is Ceiling.PRODUCER_COUNTRY
        name = each.prefix if each.ceiling is Ceiling.PREFIX else each.country
        place = (each.ceiling, name, each.producer_id if is_own else baselines.EVERYBODY)
        refused[place] = refused.get(place, 0) + each.refused
    policy = sms_policy.current()
    found = _of_prefixes(policy, prefixes, countries, now=now)
    found += _of_countries(policy, countries, now=now)
    told = [
        line._replace(refused=refused.get((line.ceiling, line.name, producer_id), 0))
        for producer_id, line in found
    ]
    return sorted(told, key=_urgency)[:MOST]


def _urgency(line: TrafficLine) -> tuple[int, float, int]:
    share = line.sms / max(1, line.limit) if line.limit is not None else 0.0
    return -line.refused, -share, -line.sms


def _of_prefixes(
    policy: Policy,
    prefixes: Mapping[str, float],
    countries: Mapping[str, float],
    *,
    now: dt.datetime,
) -> list[tuple[int, TrafficLine]]:
    found = []
    for prefix, sms in prefixes.items():
        number = "+" + prefix.ljust(_RANGE_LENGTH, "0")
        country = phone.country_or_unknown(number)
        limits = policy.of(number, country=country, producer_id=baselines.EVERYBODY, now=now)
        limit = _limit(limits.prefix, countries.get(country, 0)) if limits else None
        usual = policy.baselines.prefixes.get(prefix, 0)
        line = TrafficLine(Ceiling.PREFIX, prefix, country, "", round(sms), limit, usual, 0)
        found.append((baselines.EVERYBODY, line))
    return found


def _of_countries(
    policy: Policy, countries: Mapping[str, float], *, now: dt.datetime
) -> list[tuple[int, TrafficLine]]:
    names = dict(Producer.objects.values_list("pk", "name"))
    found = []
    for field, sms in countries.items():
        owner, separator, country = field.rpartition(":")
        if country == baselines.TOTAL:
            continue
        producer_id = int(owner) if separator else baselines.EVERYBODY
        limits = policy.of("+0", country=country, producer_id=producer_id, now=now)
        share = None
        if limits:
            share = limits.producer_country if separator else limits.country
        total = countries.get(f"{owner}{separator}{baselines.TOTAL}", 0)
        usual = policy.baselines.countries.get((producer_id, country))
        line = TrafficLine(
            Ceiling.PRODUCER_COUNTRY if separator else Ceiling.COUNTRY,
            country,
            country,
            names.get(producer_id, "") if separator else "",
            round(sms),
            _limit(share, total) if share else None,
            usual.peak if usual else 0,
            0,
        )
        found.append((producer_id, line))
    return found


def _limit(share: Share, traffic: float) -> int | None:
    """Return a ceiling in SMS, as `lua/sms_count.lua` computes the ceiling."""
    if share.floor == NO_CEILING:
        return None
    return int(max(share.floor, share.share * (traffic + 1)))


def _sums(name: str, length: dt.timedelta, *, now: dt.datetime) -> dict[str, float]:
    """Return the SMS of the last interval by field, as the script weighs two intervals."""
    seconds = length.total_seconds()
    number, passed = divmod(now.timestamp(), seconds)
    before, current = counts.counts_of(name, [int(number) - 1, int(number)])
    weight = 1 - passed / seconds
    return {
        field: current.get(field, 0) + before.get(field, 0) * weight
        for field in before.keys() | current.keys()
    }
