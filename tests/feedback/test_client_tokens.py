"""A token names one recipient and ends by time."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications import clock
from notifications.feedback import client_tokens
from notifications.rules.client_receipts import TokenHolder
from notifications.rules.lane import Mode

HOLDER = TokenHolder(recipient_id=2**62, mode=Mode.TEST)
HOUR = dt.timedelta(hours=1)


def test_a_token_is_read_until_its_end() -> None:
    now = clock.now()
    token = client_tokens.issue(HOLDER, lifetime=HOUR, now=now)
    assert client_tokens.read(token.text, now=now) == HOLDER
    last = token.expires_at - dt.timedelta(microseconds=1)
    assert client_tokens.read(token.text, now=last) == HOLDER
    assert client_tokens.read(token.text, now=token.expires_at) is None
    assert abs(token.expires_at - now - HOUR) < dt.timedelta(seconds=1)


def test_the_representation_hides_the_token() -> None:
    token = client_tokens.issue(HOLDER, lifetime=HOUR, now=clock.now())
    assert token.text not in repr(token)


@pytest.mark.parametrize("text", ["", ".", "a.b", "\u00e4", "." * 10_000])
def test_what_is_not_signed_names_nobody(text: str) -> None:
    assert client_tokens.read(text, now=clock.now()) is None
