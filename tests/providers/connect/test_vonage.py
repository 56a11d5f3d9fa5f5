"""A Vonage account, which is read and never changed."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import orjson
import pytest

from providers.connect.account import CannotConnect
from providers.connect.vonage import VonageAccount
from providers.sandbox_server.wire import Connection, ServerAnswer, ServerRequest
from providers.sms.vonage import Config
from tests.providers.connect.applying import bad, connect, listed
from tests.providers.fakes import Listener, free_port

URL = "https://notify.shop.example/v1/receipts/vonage"
NUMBER = "447700900000"


class VonageStandIn:
    """`GET /account/numbers`, as Vonage's OpenAPI of the Numbers API shows the answer."""

    def __init__(self) -> None:
        self.numbers: list[dict[str, Any]] = [
            {"country": "GB", "msisdn": NUMBER, "moHttpUrl": URL, "type": "mobile-lvn"}
        ]
        self.requests: list[ServerRequest] = []
        self._listener = Listener(lambda: Connection(self._handle))
        self.url = f"http://127.0.0.1:{self._listener.port}"
        self.close = self._listener.close

    def _handle(self, request: ServerRequest) -> ServerAnswer:
        self.requests.append(request)
        login = base64.b64encode(b"key:secret").decode()
        if request.headers["authorization"] != f"Basic {login}":
            return ServerAnswer(status=401, body=b'{"error-code":"401"}')
        found = [each for each in self.numbers if each["msisdn"] == request.query["pattern"]]
        # Vonage leaves both fields out where the account has no such number.
        answer = {"count": len(found), "numbers": found} if found else {}
        return ServerAnswer(status=200, body=orjson.dumps(answer))


@pytest.fixture
def vonage() -> Iterator[VonageStandIn]:
    with closing(VonageStandIn()) as stand_in:
        yield stand_in


def account(vonage: VonageStandIn, sender: str = NUMBER, **changed: str) -> VonageAccount:
    fields = {
        "api_key": "key",
        "api_secret": "secret",
        "signature_secret": "signature",
        "from_": sender,
        "public_url": "https://notify.shop.example",
        "url": vonage.url,
        **changed,
    }
    return VonageAccount(Config(**fields), receipts_url=URL)  # type: ignore[arg-type] # texts


def test_a_number_whose_texts_come_here_is_connected(vonage: VonageStandIn) -> None:
    assert bad(account(vonage)) == []
    assert connect(account(vonage)) == []
    assert listed(account(vonage)) == []
    assert account(vonage).rate() is None
    assert [each.method for each in vonage.requests] == ["GET"]


@pytest.mark.parametrize("webhook", ["https://old.shop.example/v1/receipts/vonage", None])
def test_another_webhook_is_left_to_a_person(vonage: VonageStandIn, webhook: str | None) -> None:
    vonage.numbers[0] |= {"moHttpUrl": webhook}
    said = f"set the inbound webhook of the number to {URL} in the dashboard"
    assert bad(account(vonage)) == [said]


def test_an_unknown_number_is_bad_and_a_name_is_not(vonage: VonageStandIn) -> None:
    assert bad(account(vonage, "447700900001")) == ["the account has no such number"]
    assert bad(account(vonage, "SHOP")) == []


def test_wrong_credentials_are_one_line(vonage: VonageStandIn) -> None:
    with pytest.raises(CannotConnect, match=r"^credentials: HTTP 401"):
        list(account(vonage, api_secret="wrong").findings())


def test_a_service_that_is_away_is_one_line(vonage: VonageStandIn) -> None:
    with pytest.raises(CannotConnect, match=r"^reachability: "):
        list(account(vonage, url=f"http://127.0.0.1:{free_port()}").findings())
