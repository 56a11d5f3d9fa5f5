"""Twilio and Vonage against the one contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from providers import conformance
from providers.conformance import Subject
from providers.contract import Channel
from providers.sms.twilio import Config as TwilioConfig
from providers.sms.twilio import Twilio
from providers.sms.vonage import Config as VonageConfig
from providers.sms.vonage import Vonage
from providers.transport import Transport
from tests.providers.sms.twilio_fake import ACCOUNT, NUMBER, twilio_fake
from tests.providers.sms.vonage_fake import vonage_fake

SECRETS = ["a-password-not-to-be-seen", "a-signature-secret-not-to-be-seen"]
PUBLIC_URL = "https://notify.example.com"


def twilio_subject(transport: Transport) -> Iterator[Subject]:
    with closing(twilio_fake()) as server:
        config = TwilioConfig(
            account_sid=ACCOUNT,
            auth_token=SECRETS[0],
            from_=NUMBER,
            public_url=PUBLIC_URL,
            url=server.origin,
        )
        yield Subject(
            provider=Twilio(config, transport=transport),
            server=server,
            channel=Channel.SMS,
            address="+15551234567",
            secrets=SECRETS[:1],
        )


def vonage_subject(transport: Transport) -> Iterator[Subject]:
    with closing(vonage_fake()) as server:
        config = VonageConfig(
            api_key="abcd1234",
            api_secret=SECRETS[0],
            signature_secret=SECRETS[1],
            from_="AcmeInc",
            public_url=PUBLIC_URL,
            url=server.origin,
        )
        yield Subject(
            provider=Vonage(config, transport=transport),
            server=server,
            channel=Channel.SMS,
            address="+447700900000",
            secrets=SECRETS,
        )


@pytest.fixture(params=[twilio_subject, vonage_subject])
def subject(request: pytest.FixtureRequest, transport: Transport) -> Iterator[Subject]:
    make: Callable[[Transport], Iterator[Subject]] = request.param
    yield from make(transport)


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_the_adapter_keeps_the_contract(check: Callable[[Subject], None], subject: Subject) -> None:
    check(subject)
