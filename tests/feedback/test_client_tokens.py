"""Client tokens of earlier releases are valid until their end."""

from __future__ import annotations

import datetime as dt

import pytest
from django.conf import settings

from notifications.core import clock
from notifications.core.feedback import client_tokens
from notifications.core.rules import signed_token
from notifications.core.rules.client_receipts import TokenHolder
from notifications.core.rules.lane import Mode

HOLDER = TokenHolder(recipient_id=2**62, mode=Mode.TEST)
HOUR = dt.timedelta(hours=1)


def _former(*, expires: int) -> str:
    """A token as an earlier release signed it."""
    key = signed_token.key(settings.SECRET_KEY, purpose=client_tokens.PURPOSE)
    return signed_token.write((int(HOLDER.mode), HOLDER.recipient_id, expires), key=key)


def test_a_token_is_read_until_its_end() -> None:
    now = clock.now().replace(microsecond=0)
    end = now + HOUR
    token = _former(expires=int(end.timestamp()))
    assert client_tokens.read(token, now=now) == HOLDER
    assert client_tokens.read(token, now=end - dt.timedelta(microseconds=1)) == HOLDER
    assert client_tokens.read(token, now=end) is None


@pytest.mark.parametrize("text", ["", ".", "a.b", "a.b.c", "\u00e4", "." * 10_000])
def test_what_is_not_signed_names_nobody(text: str) -> None:
    assert client_tokens.read(text, now=clock.now()) is None
