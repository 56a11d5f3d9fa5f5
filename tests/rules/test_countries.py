"""The country of a delivery: of the number of an SMS, else of the timezone, else of the locale."""

from __future__ import annotations

import zoneinfo
from typing import Final

import phonenumbers
import pytest

from notifications.core.rules import countries
from providers.contract import Channel

_OTHERS: Final = [each for each in Channel if each is not Channel.SMS]
_NO_COUNTRY_OF_NUMBERS: Final = {"AQ", "GS", "PN", "TF", "UM"}
"""Countries of zones without phone numbers of their own."""


def _country(channel: Channel, *, timezone: str = "", locale: str = "en") -> str:
    return countries.of_delivery(
        channel, address="+4915112345678", timezone=timezone, locale=locale
    )


@pytest.mark.parametrize("channel", _OTHERS)
def test_the_timezone_decides_before_the_locale(channel: Channel) -> None:
    assert _country(channel, timezone="America/Sao_Paulo", locale="de-AT") == "BR"
    assert _country(channel, timezone="UTC", locale="de-AT") == "AT"
    assert _country(channel, locale="pt-BR") == "BR"
    assert _country(channel, locale="pt") == ""


def test_an_sms_has_the_country_of_its_number() -> None:
    assert _country(Channel.SMS, timezone="America/Sao_Paulo", locale="pt-BR") == "DE"
    number = "+870773111632"  # a satellite phone
    found = countries.of_delivery(
        Channel.SMS, address=number, timezone="America/Sao_Paulo", locale="pt-BR"
    )
    assert found == ""


@pytest.mark.parametrize(
    ("zone", "country"),
    [
        ("Europe/Kiev", "UA"),
        ("Europe/Kyiv", "UA"),
        ("US/Pacific", "US"),
        ("Asia/Calcutta", "IN"),
        ("Europe/Amsterdam", "NL"),
        ("America/Coyhaique", "CL"),
        ("Antarctica/Troll", "AQ"),
        ("GB", "GB"),
    ],
)
def test_a_zone_and_its_former_names_have_a_country(zone: str, country: str) -> None:
    assert countries.of_zone(zone) == country


@pytest.mark.parametrize(
    ("zone", "country"),
    [
        ("Iceland", "IS"),  # the tz database: a link to Africa/Abidjan
        ("Atlantic/Jan_Mayen", "SJ"),  # to Europe/Berlin
        ("America/Virgin", "VI"),  # to America/Puerto_Rico
        ("Pacific/Truk", "FM"),  # to Pacific/Port_Moresby
    ],
)
def test_a_former_name_has_no_country_of_a_zone_with_the_same_clock(
    zone: str, country: str
) -> None:
    assert countries.of_zone(zone) == country


@pytest.mark.parametrize("zone", ["", "UTC", "Etc/GMT+3", "GMT", "EST", "CET", "No/Zone"])
def test_a_clock_of_several_countries_has_none(zone: str) -> None:
    assert countries.of_zone(zone) == ""


def test_each_zone_of_a_place_has_a_country_in_the_spelling_of_phone_numbers() -> None:
    places = {each for each in zoneinfo.available_timezones() if "/" in each}
    found = {each: countries.of_zone(each) for each in places if not each.startswith("Etc/")}
    assert [each for each, country in found.items() if not country] == []
    known = phonenumbers.SUPPORTED_REGIONS | _NO_COUNTRY_OF_NUMBERS
    assert set(found.values()) - known == set()


@pytest.mark.parametrize(
    ("tag", "country"),
    [
        ("pt-BR", "BR"),
        ("de_at", "AT"),
        ("zh-Hant-TW", "TW"),
        ("sr-Latn-XK", "XK"),
        ("de-AT-u-nu-latn", "AT"),
        ("de-u-nu-latn", ""),
        ("ca-valencia", ""),
        ("es-419", ""),
        ("en-001", ""),
        ("en-EU", ""),
        ("", ""),
    ],
)
def test_the_region_of_a_locale_is_a_country(tag: str, country: str) -> None:
    assert countries.of_locale(tag) == country
