"""A masked address is recognisable for its owner, and tells nobody else where to write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.masking import HIDDEN, mask, mask_text
from providers.contract import Channel


@pytest.mark.parametrize(
    ("address", "channel", "masked"),
    [
        ("maria@example.com", Channel.EMAIL, "m***@example.com"),
        ("m@example.com", Channel.EMAIL, "***@example.com"),
        ("maria@example.com", None, "m***@example.com"),
        ("+4915112345123", Channel.SMS, "+49 *** 123"),
        ("+15550001234", Channel.SMS, "+1 *** 234"),
        ("+351912345678", None, "+351 *** 678"),
        ("+1555000", Channel.SMS, "+1 ***"),
        ("https://hooks.example.com/T01/secret", Channel.CHAT, "https://hooks.example.com/***"),
        ("whatsapp:+4915112345678", Channel.CHAT, "whatsapp:+49 *** 678"),
        ("https://user:pw@hooks.example.com/x", None, "https://hooks.example.com/***"),
        ("dGhpcyBpcyBhIHRva2VuIG9mIGEgcGhvbmU", Channel.PUSH, "dGhp***vbmU"),
        ("u_1", Channel.IN_APP, "***"),
        ("", None, ""),
    ],
)
def test_each_kind_of_address(address: str, channel: Channel | None, masked: str) -> None:
    assert mask(address, channel) == masked


@given(st.from_regex(r"[a-z]{2,20}@[a-z]{1,12}\.example", fullmatch=True))
def test_a_mailbox_never_shows_its_name(address: str) -> None:
    local = address.split("@", maxsplit=1)[0]
    assert mask(address, Channel.EMAIL).split("@")[0] == f"{local[0]}{HIDDEN}"


@given(st.from_regex(r"\+[1-9][0-9]{6,14}", fullmatch=True))
def test_a_number_shows_at_most_six_digits(number: str) -> None:
    assert sum(letter.isdigit() for letter in mask(number, Channel.SMS)) <= 6


def test_addresses_in_a_text_are_masked_and_other_numbers_stay() -> None:
    text = '{"mail": "maria@example.com", "phone": "+49 151 12345123", "order": "ORD-4915112345"}'
    assert mask_text(text) == (
        '{"mail": "m***@example.com", "phone": "+49 *** 123", "order": "ORD-4915112345"}'
    )


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("?e=maria%40example.com", "?***@example.com"),
        ("maria&#64;example.com", "m***@example.com"),
        ("o'brien@example.com", "o***@example.com"),
        ("a%40maria@example.com", "a***@example.com"),
        ("+49 (0) 151 12345123", "+49 *** 123"),
        ("+49\u00a0151\u00a012345123", "+49 *** 123"),
        ("+49/151/12345123", "+49 *** 123"),
        ("0049 151 12345123", "+49 *** 123"),
        ("&p=%2B4915112345123", "&p=+49 *** 123"),
        ("wa.me/4915112345123", "wa.me/+49 *** 123"),
        ("order 20261123161000", "order 20261123161000"),
    ],
)
def test_other_spellings_in_a_text_are_masked(text: str, masked: str) -> None:
    assert mask_text(text) == masked


@pytest.mark.parametrize("part", ["A", "A@", "%40", "+1 ", "1", "(0)", "'"])
def test_a_long_text_is_masked_in_linear_time(part: str) -> None:
    """An inlined image is one word of 500,000 characters: quadratic steps take ten minutes."""
    assert mask_text(part * (500_000 // len(part)) + " maria@example.com").endswith(
        " m***@example.com"
    )
