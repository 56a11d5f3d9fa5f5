"""A Twilio account, read and changed by Twilio's own client."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from providers.connect.account import CannotConnect
from providers.connect.twilio import TwilioAccount
from providers.sms.twilio import Config
from tests.providers.connect.applying import bad, connect, listed
from tests.providers.connect.twilio_stand_in import SERVICE, TwilioStandIn
from tests.providers.fakes import free_port
from tests.providers.sms.twilio_fake import ACCOUNT, NUMBER, TOKEN

URL = "https://notify.shop.example/v1/receipts/twilio"


def account(twilio: TwilioStandIn, sender: str = NUMBER, **changed: Any) -> TwilioAccount:  # noqa: ANN401 - any setting
    fields = {
        "account_sid": ACCOUNT,
        "auth_token": TOKEN,
        "from_": sender,
        "public_url": "https://notify.shop.example",
        "url": twilio.url,
        **changed,
    }
    return TwilioAccount(Config(**fields), receipts_url=URL)


def test_a_number_gets_the_webhook_of_inbound_texts(twilio: TwilioStandIn) -> None:
    assert connect(account(twilio)) == ["webhook"]
    assert (twilio.number["sms_url"], twilio.number["sms_method"]) == (URL, "POST")
    assert connect(account(twilio)) == []
    assert len(twilio.updates) == 1
    assert bad(account(twilio)) == []


def test_a_short_code_gets_the_webhook(twilio: TwilioStandIn) -> None:
    assert connect(account(twilio, "894546")) == ["webhook"]
    assert twilio.short_code["sms_url"] == URL
    assert connect(account(twilio, "894546")) == []


def test_a_messaging_service_takes_the_texts_of_its_numbers(twilio: TwilioStandIn) -> None:
    assert connect(account(twilio, SERVICE)) == ["webhook"]
    assert twilio.service["inbound_request_url"] == URL
    assert twilio.service["use_inbound_webhook_on_number"] is False
    assert connect(account(twilio, SERVICE)) == []
    assert bad(account(twilio, SERVICE)) == []


def test_a_wrong_url_or_method_is_repaired(twilio: TwilioStandIn) -> None:
    connect(account(twilio))
    for name, value in (("sms_url", "https://old.example"), ("sms_method", "GET")):
        twilio.number[name] = value
        assert connect(account(twilio)) == ["webhook"]
        assert account(twilio).plan() == []


def test_a_plan_changes_nothing(twilio: TwilioStandIn) -> None:
    assert len(account(twilio).plan()) == 1
    assert twilio.updates == []


def test_an_empty_messaging_service_is_bad(twilio: TwilioStandIn) -> None:
    twilio.pool = []
    assert bad(account(twilio, SERVICE)) == ["the messaging service is empty"]


def test_an_unknown_sender_is_bad_and_a_name_is_not(twilio: TwilioStandIn) -> None:
    missing = ["the account has no such number or messaging service"]
    assert bad(account(twilio, "+15005550001")) == missing
    assert bad(account(twilio, SERVICE[:-1] + "0")) == missing
    assert bad(account(twilio, "SHOP")) == []
    assert account(twilio, "SHOP").plan() == []


def test_an_application_at_the_number_is_left_to_a_person(twilio: TwilioStandIn) -> None:
    twilio.number["sms_application_sid"] = "AP" + "0" * 32
    (said,) = bad(account(twilio))
    assert "remove it from the number" in said


def test_twilio_lists_no_opt_outs_and_no_rate(twilio: TwilioStandIn) -> None:
    assert listed(account(twilio)) == []
    assert account(twilio).rate() is None


def test_wrong_credentials_are_one_line(twilio: TwilioStandIn) -> None:
    for sender in (NUMBER, SERVICE):
        with pytest.raises(CannotConnect, match=r"^sender: Twilio answered HTTP 401$"):
            account(twilio, sender, auth_token="wrong").plan()


def test_a_service_that_is_away_is_one_line(twilio: TwilioStandIn) -> None:
    away = account(twilio, url=f"http://127.0.0.1:{free_port()}")
    with pytest.raises(CannotConnect, match=r"^sender: Twilio cannot be asked: ConnectionError$"):
        away.plan()


@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG])
def test_no_number_is_logged(
    twilio: TwilioStandIn, caplog: pytest.LogCaptureFixture, level: int
) -> None:
    for name in ("", "twilio", "urllib3"):
        caplog.set_level(level, logger=name)
    connect(account(twilio))
    assert NUMBER.removeprefix("+") not in caplog.text


def test_a_region_has_a_host_for_each_api(twilio: TwilioStandIn) -> None:
    client = account(twilio, url="https://api.dublin.ie1.twilio.com")._client
    assert client.api.base_url == "https://api.dublin.ie1.twilio.com"
    assert client.messaging.base_url == "https://messaging.dublin.ie1.twilio.com"
