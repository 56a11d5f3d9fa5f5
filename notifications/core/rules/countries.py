"""The country of a delivery.

    SMS               the country of the phone number
    other channels    the country of the recipient's timezone, else the region of the locale

The country of another channel than SMS is a guess: a traveller keeps the timezone of home, and a
phone in English may have the locale en-US anywhere. Countries are spelled as in `phone.country_of`.

A zone has the country of the tz database's zone.tab; the package `tzdata` is pinned, so each host
answers the same. CLDR has the country of the former names of zones: in the tz database Iceland and
Atlantic/Jan_Mayen are links to zones of other countries with the same clock.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from typing import Final

import phonenumbers
from babel.core import get_global

from notifications.core.rules import phone
from notifications.core.rules.language import locales
from providers.contract import Channel

_CLOCKS: Final = frozenset({
    *("CET", "CST6CDT", "EET", "EST", "EST5EDT", "HST"),
    *("MET", "MST", "MST7MDT", "PST8PDT", "WET"),
})
"""Zones of a clock that several countries have. The tz database makes EST a link to Panama."""
_REGION_LENGTH: Final = 2


def of_delivery(channel: Channel, *, address: str, timezone: str, locale: str) -> str:
    """Return the ISO 3166-1 alpha-2 country of a delivery, such as `DE`; empty if unknown.

    Args:
        channel: the channel.
        address: the address of the contact; read for SMS alone.
        timezone: IANA name, or empty.
        locale: BCP 47 tag.
    """
    if channel is Channel.SMS:
        return phone.country_of(address)
    return _of_person(timezone, locale)


@functools.lru_cache(maxsize=4096)
def _of_person(timezone: str, locale: str) -> str:
    return of_zone(timezone) or of_locale(locale)


def of_zone(name: str) -> str:
    """Return the country of a timezone; empty for a zone of no country or several, such as UTC."""
    if not name or name in _CLOCKS:
        return ""
    if name in _zone_table():
        return _zone_table()[name]
    aliases: Mapping[str, str] = get_global("zone_aliases")
    territories: Mapping[str, str] = get_global("zone_territories")
    canonical = aliases.get(name, name)
    return _if_country(_zone_table().get(canonical) or territories.get(canonical, ""))


def of_locale(tag: str) -> str:
    """Return the region of a locale; empty for a language alone, such as `pt`, or a world region.

    An extension, such as `-u-nu-latn`, has no region.
    """
    for part in locales.normalize(tag).split("-")[1:]:
        if len(part) == 1:
            break
        if len(part) == _REGION_LENGTH:
            return _if_country(part)
    return ""


def _if_country(code: str) -> str:
    # CLDR has codes that are no countries: 001 (world), EU, ZZ (unknown).
    return code if code in phonenumbers.SUPPORTED_REGIONS else ""


@functools.cache
def _zone_table() -> Mapping[str, str]:
    """Return the countries by zone of zone.tab: country, coordinates, zone, comments."""
    table = (resources.files("tzdata") / "zoneinfo" / "zone.tab").read_text()
    rows = (line.split("\t") for line in table.splitlines() if not line.startswith("#"))
    return {row[2]: row[0] for row in rows}
