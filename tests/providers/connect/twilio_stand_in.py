"""A Twilio account on a real socket: numbers, messaging services, balance.

The stand-in is written from Twilio's REST reference, and Twilio's own client reads its answers.
"""

from __future__ import annotations

import base64
from typing import Any

import orjson

from providers.sandbox_server.wire import Connection, ServerAnswer, ServerRequest
from tests.providers.fakes import Listener
from tests.providers.sms.twilio_fake import ACCOUNT, NUMBER, TOKEN, form, refusal

SERVICE = "MG" + "0123456789abcdef" * 2
_ROOT = f"/2010-04-01/Accounts/{ACCOUNT}"
_NAMES = {
    "SmsUrl": "sms_url",
    "SmsMethod": "sms_method",
    "InboundRequestUrl": "inbound_request_url",
    "InboundMethod": "inbound_method",
    "UseInboundWebhookOnNumber": "use_inbound_webhook_on_number",
}
"""The property of a resource by the parameter of its update."""


class TwilioStandIn:
    """An account with a number and a messaging service; tests change the public fields."""

    def __init__(self) -> None:
        self.number: dict[str, Any] = {
            "sid": "PN" + "0" * 32,
            "phone_number": NUMBER,
            "sms_url": "https://demo.twilio.com/welcome/sms/reply/",
            "sms_method": "POST",
            "sms_application_sid": "",
        }
        self.short_code: dict[str, Any] = {
            "sid": "SC" + "0" * 32,
            "short_code": "894546",
            "sms_url": None,
            "sms_method": "POST",
        }
        self.service: dict[str, Any] = {
            "sid": SERVICE,
            "inbound_request_url": None,
            "inbound_method": "POST",
            "use_inbound_webhook_on_number": True,
        }
        self.pool = [{"sid": "PN" + "0" * 32}]
        self.updates: list[dict[str, str]] = []
        self._listener = Listener(lambda: Connection(self._handle))
        self.url = f"http://127.0.0.1:{self._listener.port}"
        self.close = self._listener.close

    def _handle(self, request: ServerRequest) -> ServerAnswer:
        login = base64.b64encode(f"{ACCOUNT}:{TOKEN}".encode()).decode()
        if request.headers["authorization"] != f"Basic {login}":
            return refusal(401, 20003, "Authenticate")
        if request.method == "POST":
            return self._update(request)
        numbers = _page("incoming_phone_numbers", self._found(request))
        pages = {
            f"{_ROOT}.json": {"status": "active"},
            f"{_ROOT}/Balance.json": {"balance": "12.50", "currency": "USD"},
            f"{_ROOT}/IncomingPhoneNumbers.json": numbers,
            f"{_ROOT}/SMS/ShortCodes.json": _page("short_codes", [self.short_code]),
            f"/v1/Services/{SERVICE}": self.service,
            f"/v1/Services/{SERVICE}/PhoneNumbers": _page("phone_numbers", self.pool),
            f"/v1/Services/{SERVICE}/ShortCodes": _page("short_codes", []),
            f"/v1/Services/{SERVICE}/AlphaSenders": _page("alpha_senders", []),
        }
        if request.path not in pages:
            return refusal(404, 20404, "The requested resource was not found")
        return ServerAnswer(status=200, body=orjson.dumps(pages[request.path]))

    def _found(self, request: ServerRequest) -> list[dict[str, Any]]:
        wanted = request.query.get("PhoneNumber", "")
        return [self.number] if wanted == self.number["phone_number"] else []

    def _update(self, request: ServerRequest) -> ServerAnswer:
        targets = {
            f"{_ROOT}/IncomingPhoneNumbers/{self.number['sid']}.json": self.number,
            f"{_ROOT}/SMS/ShortCodes/{self.short_code['sid']}.json": self.short_code,
            f"/v1/Services/{SERVICE}": self.service,
        }
        target, given = targets[request.path], form(request)
        self.updates.append(given)
        for name, text in given.items():
            target[_NAMES[name]] = {"true": True, "false": False}.get(text, text)
        return ServerAnswer(status=200, body=orjson.dumps(target))


def _page(key: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    meta = {"key": key, "page": 0, "page_size": 50, "next_page_url": None, "url": "/"}
    return {key: items, "meta": meta, "page": 0, "page_size": 50, "next_page_uri": None}
