"""What is kept of a provider's answer names nobody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.redaction import (
    CODE_LENGTH,
    DETAIL_LENGTH,
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


def test_the_providers_own_words_stay() -> None:
    assert redact("550 5.1.1 user unknown") == "550 5.1.1 user unknown"


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
