"""Twilio's Messages resource; `test_twilio` holds it to Twilio's own client."""

from __future__ import annotations

from urllib.parse import parse_qs

import orjson

from providers.conformance import Act
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from tests.providers.answering import AnsweringFake

ACCOUNT = "AC" + "0123456789abcdef" * 2
TOKEN = "12345"
NUMBER = "+15005550006"
MESSAGE_SID = "SM" + "fedcba9876543210" * 2

_REFUSALS = {
    Act.REJECT: (400, 21211, "Invalid 'To' Phone Number: {to}"),
    Act.THROTTLE: (429, 20429, "Too Many Requests"),
    Act.UNAVAILABLE: (503, 20503, "Service is unavailable. Please try again."),
    Act.BAD_CREDENTIALS: (401, 20003, "Authenticate"),
}
_ACCOUNT = ServerAnswer(
    status=200, body=orjson.dumps({"status": "active", "balance": "12.50", "currency": "USD"})
)
"""An account, and the balance of an account."""


def form(request: ServerRequest) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(request.body.decode()).items()}


def refusal(status: int, code: int, message: str = "No.") -> ServerAnswer:
    body = {
        "code": code,
        "message": message,
        "more_info": f"https://www.twilio.com/docs/errors/{code}",
        "status": status,
    }
    headers = (("Retry-After", "7"),) if status == 429 else ()
    return ServerAnswer(status=status, body=orjson.dumps(body), headers=headers)


def _created(given: dict[str, str]) -> ServerAnswer:
    body: dict[str, object] = {
        "account_sid": ACCOUNT,
        "api_version": "2010-04-01",
        "body": given.get("Body"),
        "date_created": "Thu, 24 Aug 2023 05:01:45 +0000",
        "date_sent": None,
        "date_updated": "Thu, 24 Aug 2023 05:01:45 +0000",
        "direction": "outbound-api",
        "error_code": None,
        "error_message": None,
        "from": given.get("From"),
        "messaging_service_sid": given.get("MessagingServiceSid"),
        "num_media": "0",
        "num_segments": "1",
        "price": None,
        "price_unit": None,
        "sid": MESSAGE_SID,
        "status": "queued",
        "subresource_uris": {},
        "to": given.get("To"),
        "uri": f"/2010-04-01/Accounts/{ACCOUNT}/Messages/{MESSAGE_SID}.json",
    }
    return ServerAnswer(status=201, body=orjson.dumps(body))


def _words(act: Act, request: ServerRequest) -> ServerAnswer:
    given = form(request)
    if act is Act.ACCEPT:
        return _ACCOUNT if request.method == "GET" else _created(given)
    status, code, message = _REFUSALS[act]
    return refusal(status, code, message.format(to=given.get("To")))


def twilio_fake() -> AnsweringFake:
    return AnsweringFake(_words, key=lambda request: form(request)["StatusCallback"])
