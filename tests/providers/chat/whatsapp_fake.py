"""Meta's Cloud API as its documents describe it: messages, errors, and the page of a number."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Any

import orjson

from providers.conformance import Act
from providers.contract import ReceiptRequest
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from tests.providers.answering import AnsweringFake

NUMBER_ID = "106540352242922"
TOKEN = "EAAJB-access-token"
APP_SECRET = "app-secret"
VERIFY_TOKEN = "verify-token"
MESSAGE_ID = "wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI1RjQyNUE3NEYxMzAzMzQ5MkEA"
ENVIRON = {
    "NOTIFY_WHATSAPP_PHONE_NUMBER_ID": NUMBER_ID,
    "NOTIFY_WHATSAPP_ACCESS_TOKEN": TOKEN,
    "NOTIFY_WHATSAPP_APP_SECRET": APP_SECRET,
    "NOTIFY_WHATSAPP_VERIFY_TOKEN": VERIFY_TOKEN,
}

_REFUSALS = {
    Act.REJECT: (400, 131026, "Message undeliverable to {to}"),
    Act.THROTTLE: (429, 130429, "Rate limit hit"),
    Act.UNAVAILABLE: (503, 131016, "Service unavailable"),
    Act.BAD_CREDENTIALS: (401, 190, "Access token has expired"),
}
_PAGE = ServerAnswer(status=200, body=orjson.dumps({"quality_rating": "GREEN", "id": NUMBER_ID}))
"""The answer about the business number."""


def sent(request: ServerRequest) -> dict[str, Any]:
    """The JSON of a message."""
    body: dict[str, Any] = orjson.loads(request.body)
    return body


def error(status: int, code: int, message: str = "No.") -> ServerAnswer:
    body = {
        "message": f"(#{code}) {message}",
        "type": "OAuthException",
        "code": code,
        "error_data": {"messaging_product": "whatsapp", "details": message},
        "fbtrace_id": "Az8or2yhqkZfEZ-_4Qn_Bam",
    }
    headers = (("Retry-After", "7"),) if status == 429 else ()
    return ServerAnswer(status=status, body=orjson.dumps({"error": body}), headers=headers)


def _words(act: Act, request: ServerRequest) -> ServerAnswer:
    if act is Act.ACCEPT:
        return _PAGE if request.method == "GET" else _accepted(sent(request)["to"])
    status, code, message = _REFUSALS[act]
    to = "" if request.method == "GET" else sent(request)["to"]
    return error(status, code, message.format(to=to))


def _accepted(to: str) -> ServerAnswer:
    body = {
        "messaging_product": "whatsapp",
        "contacts": [{"input": to, "wa_id": to}],
        "messages": [{"id": MESSAGE_ID, "message_status": "accepted"}],
    }
    return ServerAnswer(status=200, body=orjson.dumps(body))


def whatsapp_fake() -> AnsweringFake:
    return AnsweringFake(_words, key=lambda request: str(sent(request)["biz_opaque_callback_data"]))


def change(**value: object) -> dict[str, Any]:
    """A callback with one change of the field `messages`."""
    metadata = {"display_phone_number": "15550783881", "phone_number_id": NUMBER_ID}
    about = {"messaging_product": "whatsapp", "metadata": metadata, **value}
    changes = [{"value": about, "field": "messages"}]
    return {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": changes}]}


def status(name: str, *, delivery_id: object = "", code: int | None = None) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": MESSAGE_ID,
        "status": name,
        "timestamp": "1750030073",
        "recipient_id": "491511234567",
    }
    if delivery_id:
        fields["biz_opaque_callback_data"] = str(delivery_id)
    if code is not None:
        fields["errors"] = [{"code": code, "title": "No.", "error_data": {"details": "No."}}]
    return fields


def written(text: str, *, sender: str = "491511234567") -> dict[str, Any]:
    """A message of a person."""
    about = {"from": sender, "id": f"wamid.{text}", "timestamp": "1750030073"}
    return {**about, "type": "text", "text": {"body": text}}


def signature(body: bytes, *, secret: str = APP_SECRET) -> str:
    """As Meta's documents say: the hex of an HMAC over the raw body."""
    return "sha256=" + hmac.new(secret.encode(), body, sha256).hexdigest()


def callback(content: object, *, secret: str = APP_SECRET) -> ReceiptRequest:
    body = orjson.dumps(content)
    return ReceiptRequest(
        url="https://notify.example.com/v1/receipts/whatsapp",
        headers={"x-hub-signature-256": signature(body, secret=secret)},
        body=body,
    )
