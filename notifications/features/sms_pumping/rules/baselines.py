"""Baselines: the usual P0 and P1 SMS of each prefix and each country in the last four weeks.

The peak of a prefix or country is the second highest of its daily peaks, so a single unusual day
teaches nothing. An interval with a refusal is not learned (`features.sms_pumping.sweep`), so an
attack does not raise the ceilings.

Cold start: without seven days and 1,000 SMS there are no shares, and the ceilings of countries do
not apply. The ceiling of an address and the floor of a prefix apply from the first SMS. A producer
without as much history has no ceilings of its own, and the ceilings of all producers apply.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

PERIOD: Final = dt.timedelta(days=28)
"""Age up to which traffic counts."""
LEAST_DAYS: Final = 7
"""Days with traffic after which shares are known."""
LEAST_TOTAL: Final = 1_000
"""SMS after which shares are known."""
LEAST_PEAK: Final = 10
"""Prefixes with a smaller count in 10 minutes are not stored: no ceiling would change."""
EVERYBODY: Final = 0
"""Producer id of the traffic of all producers."""
TOTAL: Final = "*"
"""Name of the traffic to all countries."""


class Traffic(NamedTuple):
    """The traffic of a name in the period."""

    name: str
    """Digits of a prefix, a country, or `TOTAL`."""
    producer_id: int
    peak: int
    """SMS of the second highest daily peak; 0 with a single day."""
    total: int
    """SMS of the period."""
    days: int
    """Days with traffic."""


class CountryBaseline(NamedTuple):
    """The usual traffic to a country."""

    peak: int = 0
    """SMS in an hour."""
    share: float = 0.0
    """Share of the SMS to all countries, from 0 to 1."""


class Baselines(NamedTuple):
    """The usual traffic of an installation."""

    prefixes: Mapping[str, int] = MappingProxyType({})
    """SMS in 10 minutes by prefix."""
    countries: Mapping[tuple[int, str], CountryBaseline] = MappingProxyType({})
    """By producer id, or `EVERYBODY`, and country."""
    known: frozenset[int] = frozenset()
    """Producer ids with enough history for shares; with `EVERYBODY` for all producers."""


def learn(prefixes: Iterable[Traffic], countries: Iterable[Traffic]) -> Baselines:
    """Return the baselines of the traffic of the period."""
    rows = list(countries)
    totals = {row.producer_id: row for row in rows if row.name == TOTAL}
    known = frozenset({
        row.producer_id
        for row in totals.values()
        if row.days >= LEAST_DAYS and row.total >= LEAST_TOTAL
    })
    return Baselines(
        {row.name: row.peak for row in prefixes},
        {
            (row.producer_id, row.name): CountryBaseline(
                row.peak, row.total / max(1, totals[row.producer_id].total)
            )
            for row in rows
            if row.name != TOTAL and row.producer_id in known
        },
        known,
    )
