"""Vonage's SMS API, held to what its OpenAPI (SMS API 1.0.10) says of requests and answers."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

import orjson

from providers.conformance import Act
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from tests.providers.answering import AnsweringFake

MESSAGE_ID = "0A0000000123ABCD1"

_BOUNDS = {
    "to": re.compile(r"\d{7,15}"),
    "from": re.compile(r".+"),
    "text": re.compile(r".+", re.DOTALL),
    "type": re.compile(r"text|binary|wappush|unicode|vcal|vcard"),
    "client-ref": re.compile(r".{1,40}"),
    "callback": re.compile(r"https?://.{1,93}"),
}
_TTL = range(20_000, 604_800_001)

_STATUSES = {
    Act.ACCEPT: ("0", ""),
    Act.REJECT: ("3", "Invalid value for parameter: to {to}"),
    Act.THROTTLE: ("1", "Throughput Rate Exceeded - please wait [ 250 ] and retry"),
    Act.UNAVAILABLE: ("5", "Internal Error"),
    Act.BAD_CREDENTIALS: ("4", "Bad Credentials"),
}


def form(request: ServerRequest) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(request.body.decode()).items()}


def parts(*statuses: str, text: str = "no") -> ServerAnswer:
    """An answer with one part for each status."""
    messages = [
        {
            "to": "491511234567",
            "message-id": f"{MESSAGE_ID}{number or ''}",
            "status": "0",
            "remaining-balance": "3.14159265",
            "message-price": "0.03330000",
            "network": "12345",
        }
        if status == "0"
        else {"status": status, "error-text": text}
        for number, status in enumerate(statuses)
    ]
    body = {"message-count": str(len(messages)), "messages": messages}
    return ServerAnswer(status=200, body=orjson.dumps(body))


def _words(act: Act, request: ServerRequest) -> ServerAnswer:
    given = form(request)
    wrong = [name for name, bound in _BOUNDS.items() if not bound.fullmatch(given.get(name, ""))]
    if wrong or int(given["ttl"]) not in _TTL or given.keys() != _BOUNDS.keys() | {"ttl"}:
        return parts("3", text=f"Invalid value for parameter: {wrong}")
    status, text = _STATUSES[act]
    return parts(status, text=text.format(to=given["to"]))


def vonage_fake() -> AnsweringFake:
    fake = AnsweringFake(_words, key=lambda request: form(request)["client-ref"])
    fake.retry_after = None  # status 1 names no header; its text is for people
    return fake
