"""Twilio against the one contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from providers import conformance
from providers.conformance import Subject
from providers.contract import Channel
from providers.sms.twilio import Config, Twilio
from providers.transport import Transport
from tests.providers.sms.twilio_fake import ACCOUNT, NUMBER, twilio_fake

TOKEN = "a-token-that-must-not-be-seen"


@pytest.fixture
def subject() -> Iterator[Subject]:
    with closing(Transport()) as transport, closing(twilio_fake()) as server:
        config = Config(account_sid=ACCOUNT, auth_token=TOKEN, from_=NUMBER, url=server.origin)
        callback = "https://notify.example.com/v1/receipts/twilio"
        yield Subject(
            provider=Twilio(config, callback=callback, transport=transport),
            server=server,
            channel=Channel.SMS,
            address="+15551234567",
            secrets=[TOKEN],
        )


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_twilio_keeps_the_contract(check: Callable[[Subject], None], subject: Subject) -> None:
    check(subject)
