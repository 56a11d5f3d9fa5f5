"""What is kept of a provider's answer names nobody."""

from __future__ import annotations

import re

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from phonenumbers import PhoneNumberFormat

from notifications.core.rules.redaction import (
    CODE_LENGTH,
    DETAIL_LENGTH,
    _without_mailboxes,
    address_hash,
    code_of,
    redact,
)


@pytest.mark.parametrize(
    "address",
    [
        *("maria@example.com", "maria%40example.com", "maria&#64;example.com"),
        *("+5511987654321", "+55 11 98765-4321", "(011) 98765-4321", "+55/11/987654321"),
        "fcm_" + "aZ09-_:" * 20,
    ],
)
def test_an_address_in_an_answer_is_taken_out(address: str) -> None:
    assert address not in redact(f"550 5.1.1 {address} is unknown here")


@pytest.mark.parametrize(
    "text",
    [
        *("550 5.1.1 user unknown", "550 5.7.515 Access denied", "550-5.7.515 (#5.7.1) denied"),
        *("421-4.7.28 [203.0.113.195      12] Our system", "Client host [203.0.113.195] blocked"),
        *("the IP 203.0.113.195 is listed", "Microsoft SMTP, Version: 10.0.20348.1 ready"),
        *("paused since 2026-11-30.", "until 2026-11-30T18:02:11.123456+00:00, then"),
        *("(2026-11-30 18:02:11)", "error 21610, HTTP 400"),
    ],
)
def test_the_providers_own_words_stay(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("550 5.7.515 98765432 is unknown", "550 5.7.515 <number> is unknown"),
        ("from 2026-11-30 98765432", "from 2026-11-30 <number>"),
        ("5.7.515-98765432", "<number>"),
        ("550 5.123.456-7890", "<number>"),
        ("550 5.123.456", "<number>"),
        ("+550 5.7.515", "<number>"),
        ("1550 5.7.515", "<number>"),
        ("550 4.7.515", "<number>"),
        ("2026-11-30-12", "<number>"),
        ("2026-13-30", "<number>"),
        ("203.0.113.195", "<number>"),
        ("[555.123.45.67]", "[<number>]"),
        ("order 12345678", "order <number>"),
    ],
)
def test_what_may_be_a_number_is_taken_out(text: str, kept: str) -> None:
    assert redact(text) == kept


@pytest.mark.parametrize("said", ["550 5.1.1 {} unknown", "550-5.7.1 <{}>:", "host {}", "[{}]"])
@pytest.mark.parametrize("separator", [" ", "-", ".", "/"])
def test_a_number_of_any_country_is_taken_out(said: str, separator: str) -> None:
    names_ip = separator == "." and said in {"host {}", "[{}]"}
    for region in phonenumbers.SUPPORTED_REGIONS:
        number = phonenumbers.example_number(region)
        assert number is not None
        forms = [PhoneNumberFormat.E164, PhoneNumberFormat.INTERNATIONAL]
        if not names_ip:  # without a plus, a few such numbers look like an IP address
            forms.append(PhoneNumberFormat.NATIONAL)
        for form in forms:
            text = re.sub("[ -]", separator, phonenumbers.format_number(number, form))
            if sum(map(str.isdigit, text)) >= 8:
                assert said.format("<number>") == redact(said.format(text)).replace("(<", "<")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("to='maria@example.com', code='550'", "<mailbox>', code='550'"),
        ("maria@a.example'jo@b.example", "<mailbox><mailbox>"),
        ("<maria@example.com>:blocked @here", "<<mailbox>>:blocked @here"),
        ("maria@ example.com", "maria@ example.com"),
    ],
)
def test_a_mailbox_ends_at_a_quote_a_bracket_or_a_space(text: str, kept: str) -> None:
    assert redact(text) == kept


@pytest.mark.parametrize("text", ["a", "'", "a@", "'@", "%4"])
def test_the_time_of_a_text_without_a_space_grows_with_its_length_alone(text: str) -> None:
    """A time that grows with the square would be hours."""
    assert _without_mailboxes(text * 1_000_000 + " ok").endswith("ok")


@given(st.text(max_size=5000))
def test_it_is_never_long(text: str) -> None:
    assert len(redact(text)) <= DETAIL_LENGTH


def test_a_hash_is_equal_for_equal_addresses_and_needs_the_key() -> None:
    one = address_hash("maria@example.com", key=b"one")
    assert one == address_hash("maria@example.com", key=b"one")
    assert one != address_hash("maria@example.com", key=b"two")
    assert one != address_hash("mario@example.com", key=b"one")


@pytest.mark.parametrize(
    ("given_code", "kept"),
    [
        ("550 5.7.515", "550 5.7.515"),
        ("ConfigurationSetSendingPausedException", "ConfigurationSetSendingPausedException"),
        ("dlr-to maria@example.com", "dlr-to <mailbox>"),
        ("unknown +5511987654321", "unknown <number>"),
        ("two\n lines\x00 \x1b[31m", "two lines [31m"),
    ],
)
def test_a_code_is_one_line_without_an_address(given_code: str, kept: str) -> None:
    assert code_of(given_code) == kept


@given(st.text(max_size=1000))
def test_a_code_is_never_long_and_is_printable(text: str) -> None:
    code = code_of(text)
    assert len(code) <= CODE_LENGTH
    assert code.isprintable()
