"""Vonage against the one contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from providers import conformance
from providers.conformance import Subject
from providers.contract import Channel
from providers.sms.vonage import Config, Vonage
from providers.transport import Transport
from tests.providers.sms.vonage_fake import vonage_fake

SECRETS = ["an-api-secret-not-to-be-seen", "a-signature-secret-not-to-be-seen"]


@pytest.fixture
def subject() -> Iterator[Subject]:
    with closing(Transport()) as transport, closing(vonage_fake()) as server:
        config = Config(
            api_key="abcd1234",
            api_secret=SECRETS[0],
            signature_secret=SECRETS[1],
            from_="AcmeInc",
            url=server.origin,
        )
        callback = "https://notify.example.com/v1/receipts/vonage"
        yield Subject(
            provider=Vonage(config, callback=callback, transport=transport),
            server=server,
            channel=Channel.SMS,
            address="+447700900000",
            secrets=SECRETS,
        )


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_vonage_keeps_the_contract(check: Callable[[Subject], None], subject: Subject) -> None:
    check(subject)
