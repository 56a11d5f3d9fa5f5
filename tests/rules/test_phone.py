"""A number is stored in one spelling, and tells where a person probably is."""

from __future__ import annotations

import pytest

from notifications.core.rules import phone


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("+4915112345678", "+4915112345678"),
        ("+49 (151) 123-45678", "+4915112345678"),
        ("+1-555-0000", "+15550000"),  # the sandbox's number that is no number
        ("+1 555 503 2000", "+15555032000"),  # steers the sandbox
    ],
)
def test_a_number_has_one_spelling(written: str, stored: str) -> None:
    assert phone.e164(written) == stored


@pytest.mark.parametrize(
    "written",
    [
        *("0151 12345678", "+49", "+4915112345678901234", "+999123456789", "+12345", "+49151"),
        *("+15555555", "+1 905 0725", "+919050725"),  # only within their own areas
        *("call +4915112345678", "+4915112345678\n", "+49151ABC45678", "+٤٩١٥١١٢٣٤٥٦٧٨", ""),
    ],
)
def test_what_nobody_can_dial_is_no_number(written: str) -> None:
    with pytest.raises(ValueError, match="its country code"):
        phone.e164(written)


@pytest.mark.parametrize(
    ("number", "zone"),
    [
        ("+4915112345678", "Europe/Berlin"),
        ("+5511912345678", "America/Sao_Paulo"),
        ("+12125551234", "America/New_York"),
        ("+79161234567", "Europe/Moscow"),  # of any of eleven zones: the main city's
        ("+15552000001", ""),  # nobody's
        ("+870773111632", ""),  # a ship's
        ("no number", ""),
    ],
)
def test_a_number_tells_the_timezone_of_its_country(number: str, zone: str) -> None:
    assert phone.zone_of(number) == zone


@pytest.mark.parametrize(
    ("number", "country"),
    [
        ("+4915112345678", "DE"),
        ("+14165551234", "CA"),
        ("+12125551234", "US"),
        ("+447400123456", "GB"),
        ("+77011234567", "KZ"),
        ("+79161234567", "RU"),
        ("+870123456789", ""),  # a satellite has no country
        *[("+15550000", ""), ("+1", ""), ("+", ""), ("", ""), ("sandbox", "")],
    ],
)
def test_a_number_has_a_country(number: str, country: str) -> None:
    assert phone.country_of(number) == country
