"""Every account turns an answer of an unknown shape into one line without the answer's text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing

import pytest

from providers.connect import aws
from providers.connect.account import CannotConnect, ConnectableAccount
from providers.connect.aws_eum import AwsEumAccount
from providers.connect.aws_sns import AwsSnsAccount
from providers.connect.ses import SesAccount
from providers.connect.twilio import TwilioAccount
from providers.connect.vonage import VonageAccount
from providers.email import ses
from providers.email.mime import mailbox
from providers.sandbox_server.wire import Connection, ServerAnswer
from providers.sms import aws_eum, aws_sns, twilio, vonage
from tests.providers.aws.fakes import ACCOUNT
from tests.providers.connect.twilio_stand_in import SERVICE
from tests.providers.fakes import Listener
from tests.providers.sms import twilio_fake

_PUBLIC = "https://notify.shop.example"
_RECEIPTS = f"{_PUBLIC}/v1/receipts/x"


def _twilio(url: str, sender: str) -> TwilioAccount:
    config = twilio.Config(
        account_sid=twilio_fake.ACCOUNT,
        auth_token=twilio_fake.TOKEN,
        from_=sender,
        public_url=_PUBLIC,
        url=url,
    )
    return TwilioAccount(config, receipts_url=_RECEIPTS)


def _vonage(url: str) -> VonageAccount:
    config = vonage.Config(
        api_key="key",
        api_secret="secret",
        signature_secret="signature",
        from_="447700900000",
        public_url=_PUBLIC,
        url=url,
    )
    return VonageAccount(config, receipts_url=_RECEIPTS)


def _ses(url: str) -> SesAccount:
    sender = mailbox("Shop <no-reply@shop.example>")
    config = ses.Config(**ACCOUNT, endpoint=url, from_=sender)  # type: ignore[arg-type] # texts
    return SesAccount(config, receipts_url=_RECEIPTS)


def _aws_eum(url: str) -> AwsEumAccount:
    config = aws_eum.Config(**ACCOUNT, endpoint=url)  # type: ignore[arg-type] # texts
    return AwsEumAccount(config, receipts_url=_RECEIPTS)


def _aws_sns(url: str) -> AwsSnsAccount:
    config = aws_sns.Config(**ACCOUNT, endpoint=url)  # type: ignore[arg-type] # texts
    return AwsSnsAccount(config, receipts_url=_RECEIPTS)


_ACCOUNTS: dict[str, Callable[[str], ConnectableAccount]] = {
    "twilio_number": lambda url: _twilio(url, twilio_fake.NUMBER),
    "twilio_service": lambda url: _twilio(url, SERVICE),
    "vonage": _vonage,
    "ses": _ses,
    "aws_eum": _aws_eum,
    "aws_sns": _aws_sns,
}


@pytest.mark.parametrize("name", _ACCOUNTS)
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>gone@mailbox.example"),
        (502, b"<html>gone@mailbox.example"),
        (429, b"gone@mailbox.example"),
        (200, b""),
        (200, b"null"),
        (200, b"[]"),
        (200, b"{}"),
        (200, b'{"numbers": ["gone@mailbox.example"]}'),
    ],
)
def test_an_unreadable_answer_is_a_line(
    name: str, status: int, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aws, "_TRIES", 1)
    answer = ServerAnswer(status=status, body=body)
    with closing(Listener(lambda: Connection(lambda _: answer))) as listener:
        url = f"http://127.0.0.1:{listener.port}"
        for service in ("SNS", "STS"):
            monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", url)
        account = _ACCOUNTS[name](url)
        said = [
            _said(account.findings),
            _said(account.plan),
            _said(account.suppression_pages),
            _said(lambda: [account.rate()]),
        ]
    assert any(said)
    assert "gone@" not in "".join(said)


def _said(read: Callable[[], Iterable[object]]) -> str:
    """Return the findings, or the text of the refusal."""
    try:
        return "".join(map(str, read()))
    except CannotConnect as error:
        return str(error)
