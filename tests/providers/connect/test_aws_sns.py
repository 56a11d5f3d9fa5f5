"""The opt-outs of an SNS account, from moto's SNS."""

from __future__ import annotations

from providers.connect.aws_sns import AwsSnsAccount
from providers.sms.aws_sns import Config
from tests.providers.aws.fakes import ACCOUNT
from tests.providers.aws.moto_server import client, moto
from tests.providers.connect.applying import bad, connect, listed


def test_the_numbers_that_opted_out_are_read_and_nothing_is_missing() -> None:
    url = moto()
    known = client("sns", url).list_phone_numbers_opted_out()["phoneNumbers"]
    account = AwsSnsAccount(Config(endpoint=url, **ACCOUNT), receipts_url="https://x.example")  # type: ignore[arg-type] # texts
    assert known
    assert listed(account) == [(each, "opt_out") for each in known]
    assert connect(account) == []
    assert bad(account) == []
    assert account.rate() is None
