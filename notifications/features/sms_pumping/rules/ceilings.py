"""Ceilings of a number: the most P0 and P1 SMS to its address, prefix and country.

    address            limits.address
    prefix             the largest of limits.prefix_floor, growth * baseline, PREFIX_SHARE of the
                       SMS to the country in the last hour, with those that other prefixes were
                       refused, and OWN_SHARE of the producer's P0 of all channels in ten minutes
    country            the largest of limits.country_floor, growth * baseline, and
                       growth * learned share of the SMS of the last hour

The country of most messages has a learned share near 1, so its ceiling grows with the traffic: a
launch day or a national campaign is not refused. The share of a prefix has the same purpose: a
campaign reaches hundreds of prefixes, an attack few. An override of an operator replaces the
ceiling.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from notifications.features.sms_pumping.rules.baselines import EVERYBODY, Baselines, CountryBaseline

ADDRESS_WINDOW: Final = dt.timedelta(minutes=10)
PREFIX_INTERVAL: Final = dt.timedelta(minutes=10)
COUNTRY_INTERVAL: Final = dt.timedelta(hours=1)
PREFIX_DIGITS: Final = 7
"""Digits of a prefix, with the country code: an area and an exchange in North America, a range of
10,000 numbers or more elsewhere."""
PREFIX_SHARE: Final = 0.01
"""Share of the SMS to a country in the last hour that a prefix may have in 10 minutes."""
OWN_SHARE: Final = PREFIX_SHARE * 6
"""Share of a producer's P0 of ten minutes; PREFIX_SHARE for the hour that has six times as many."""
NO_CEILING: Final = -1


class Ceiling(StrEnum):
    """The kinds of ceilings; the value is stored in overrides."""

    ADDRESS = "address"
    PREFIX = "prefix"
    COUNTRY = "country"
    PRODUCER_COUNTRY = "producer_country"


class CeilingLimits(NamedTuple):
    """The limits set by operators."""

    address: int = 10
    """SMS to a number in 10 minutes."""
    prefix_floor: int = 50
    """SMS to a prefix in 10 minutes that are never refused."""
    country_floor: int = 100
    """SMS to a country in an hour that are never refused."""
    growth: float = 3.0
    """Factor of the baseline."""
    is_enforced: bool = True
    """False: SMS above a ceiling leave, and the alert is raised."""


class Override(NamedTuple):
    """A ceiling set by an operator."""

    ceiling: Ceiling
    value: str
    """Digits of a number, first digits of numbers, or a country; a country applies to the ceilings
    of all producers and of each producer."""
    limit: int | None
    """None: no ceiling; 0: every SMS is refused."""
    ends_at: dt.datetime | None = None
    """None: no end."""

    def is_on(self, now: dt.datetime) -> bool:
        """Return True until `ends_at`."""
        return self.ends_at is None or now < self.ends_at


class Share(NamedTuple):
    """A ceiling that grows with the traffic: the larger of `floor` and a share of the traffic."""

    floor: float
    """SMS; `NO_CEILING`: no ceiling."""
    share: float = 0.0
    """Share of the traffic, from 0 to 1."""


_NONE: Final = Share(NO_CEILING)


class NumberCeilings(NamedTuple):
    """The ceilings of a number."""

    address: int
    prefix: Share
    country: Share
    producer_country: Share


class Policy(NamedTuple):
    """The limits, baselines and overrides of an installation."""

    limits: CeilingLimits = CeilingLimits()
    baselines: Baselines = Baselines()
    overrides: Sequence[Override] = ()
    p0_by_producer: Mapping[int, int] = MappingProxyType({})
    """P0 deliveries of all channels in the last PREFIX_INTERVAL, by producer id."""

    def of(
        self,
        number: str,
        *,
        country: str,
        producer_id: int,
        now: dt.datetime,
        is_fallback: bool = False,
    ) -> NumberCeilings | None:
        """Return the ceilings of a stored number; None: an address that is no number.

        A fallback has the ceiling of its address, and of prefix and country the overrides alone.
        """
        digits = number.removeprefix("+")
        if not digits.isdigit():
            return None
        overrides = [each for each in self.overrides if each.is_on(now)]
        address, prefix, by_country = _overrides_of(overrides, digits, country)
        if by_country is not None:
            both = (_share_of(by_country),) * 2
        elif is_fallback:
            both = (_NONE, _NONE)
        else:
            both = (self._country(EVERYBODY, country), self._country(producer_id, country))
        if prefix is not None:
            of_prefix = _share_of(prefix)
        else:
            of_prefix = _NONE if is_fallback else self._prefix(prefix_of(digits), producer_id)
        return NumberCeilings(
            self.limits.address if address is None else _limit(address), of_prefix, *both
        )

    def _prefix(self, prefix: str, producer_id: int) -> Share:
        usual = self.limits.growth * self.baselines.prefixes.get(prefix, 0)
        own = self.p0_by_producer.get(producer_id, 0)
        if producer_id == EVERYBODY:
            own = max(self.p0_by_producer.values(), default=0)
        return Share(max(self.limits.prefix_floor, usual, OWN_SHARE * own), PREFIX_SHARE)

    def _country(self, producer_id: int, country: str) -> Share:
        if producer_id not in self.baselines.known:
            return _NONE
        usual = self.baselines.countries.get((producer_id, country), CountryBaseline())
        growth = self.limits.growth
        floor = max(self.limits.country_floor, growth * usual.peak)
        return Share(floor, min(1.0, growth * usual.share))


def prefix_of(digits: str) -> str:
    """Return the prefix of a number without the plus sign."""
    return digits[:PREFIX_DIGITS]


def _overrides_of(
    overrides: Sequence[Override], digits: str, country: str
) -> tuple[Override | None, Override | None, Override | None]:
    """Return the overrides of address, prefix (the longest) and country."""
    address = prefix = by_country = None
    for each in overrides:
        match each.ceiling:
            case Ceiling.ADDRESS if each.value == digits:
                address = each
            case Ceiling.PREFIX if digits.startswith(each.value) and (
                prefix is None or len(prefix.value) < len(each.value)
            ):
                prefix = each
            case Ceiling.COUNTRY if each.value == country:
                by_country = each
            case _:
                pass
    return address, prefix, by_country


def _limit(override: Override) -> int:
    return NO_CEILING if override.limit is None else override.limit


def _share_of(override: Override) -> Share:
    return Share(_limit(override))
