"""SES as moto plays it: what it accepts, boto3 reads back."""

from __future__ import annotations

import pytest

from providers.contract import Accepted, Rejected
from providers.email.mime import mailbox
from providers.email.ses import Config, Ses
from providers.transport import Transport
from tests.providers.aws.fakes import ACCOUNT
from tests.providers.aws.moto_server import client, moto
from tests.providers.email.ses.world import mails, outcomes

SENDER = "no-reply@shop.example"


@pytest.fixture
def url() -> str:
    return moto()


def provider(url: str, transport: Transport, *, sender: str = SENDER) -> Ses:
    config = Config(endpoint=url, from_=mailbox(sender), bulk=False, **ACCOUNT)  # type: ignore[arg-type] # texts
    return Ses(config, transport=transport)


def test_mails_of_a_verified_sender_are_accepted(url: str, transport: Transport) -> None:
    client("ses", url).verify_email_identity(EmailAddress=SENDER)
    before = client("ses", url).get_send_quota()["SentLast24Hours"]
    found = outcomes(provider(url, transport), mails(3, html="<b>grüße</b>"))
    assert all(isinstance(each, Accepted) and each.message_id for each in found)
    # moto has one account for all tests of a process.
    assert client("ses", url).get_send_quota()["SentLast24Hours"] == before + 3


def test_motos_refusal_is_read_from_its_header(url: str, transport: Transport) -> None:
    (outcome,) = outcomes(provider(url, transport, sender="who@else.example"), mails(1))
    # AWS itself says "Email address is not verified": that would be our fault, not the mail's.
    assert outcome == Rejected(
        code="MessageRejected",
        detail="Email address not verified [address]",
        another_provider_may_accept=True,
    )
