"""Two services as their API references describe them, over the HTTP fake that all tests share."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import parse_qs

import orjson

from providers import configuration
from providers.conformance import Act
from providers.email.anymail.adapter import NAME, Anymail, Config
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from providers.transport import Transport
from tests.providers.fakes import HttpFake, cut, never

TOKEN = "3f2c-a-token-of-nobody"
PASSWORD = "hook:hunter2"
RETRY_AFTER = (("Retry-After", "7"),)


def adapter(
    service: str, options: Mapping[str, str], *, transport: Transport, **settings: str
) -> Anymail:
    """Build the adapter as a start does: from variables."""
    environ = {
        "NOTIFY_ANYMAIL_ESP": service,
        "NOTIFY_ANYMAIL_OPTIONS": orjson.dumps(dict(options)).decode(),
        "NOTIFY_ANYMAIL_FROM": "Shop <no-reply@shop.example>",
        "NOTIFY_ANYMAIL_WEBHOOK_SECRET": PASSWORD,
        **settings,
    }
    config = configuration.load(Config, vendor=NAME, environ=environ)
    return Anymail(config, transport=transport)


class Postmark(HttpFake):
    """`POST /email`; refusals are 422 with a code of their own."""

    SERVICE = "postmark"
    REFUSALS: ClassVar[Mapping[Act, tuple[int, int, str]]] = {
        Act.REJECT: (422, 406, "Found inactive addresses: {to}. Inactive recipients are ones"),
        Act.THROTTLE: (429, 429, "Rate limit exceeded"),
        Act.UNAVAILABLE: (503, 100, "Maintenance"),
        Act.BAD_CREDENTIALS: (401, 10, "Bad or missing API token"),
    }

    def __init__(self) -> None:
        super().__init__(key_header="")
        self.url = self.url.removesuffix("/hook")

    @property
    def options(self) -> dict[str, str]:
        return {"server_token": TOKEN, "api_url": self.url}

    @property
    def mails(self) -> list[dict[str, str]]:
        return [orjson.loads(request.body) for request in self.requests]

    @property
    def keys(self) -> list[str]:
        return [orjson.loads(each.body)["Metadata"]["delivery_id"] for each in self.requests]

    def _handle(self, request: ServerRequest) -> object:  # type: ignore[override] # what the base returns
        self.requests.append(request)
        if self._act is Act.HANG:
            return never()
        if self._act is Act.CUT:
            return cut()
        assert request.path == "/email"
        token = request.headers.get("x-postmark-server-token")
        act = self._act if token == TOKEN else Act.BAD_CREDENTIALS
        to = orjson.loads(request.body)["To"]
        if act is Act.ACCEPT:
            said = {"To": to, "MessageID": "pm-1", "ErrorCode": 0, "Message": "OK"}
            return ServerAnswer(status=200, body=orjson.dumps(said))
        status, code, text = self.REFUSALS[act]
        body = orjson.dumps({"ErrorCode": code, "Message": text.format(to=to.lower())})
        return ServerAnswer(status=status, body=body, headers=RETRY_AFTER * (status == 429))


class Mailgun(HttpFake):
    """`POST /v3/<domain>/messages` as a form; refusals are plain statuses."""

    SERVICE = "mailgun"
    REFUSALS: ClassVar[Mapping[Act, int]] = {
        Act.REJECT: 400,
        Act.THROTTLE: 429,
        Act.UNAVAILABLE: 500,
        Act.BAD_CREDENTIALS: 401,
    }

    def __init__(self) -> None:
        super().__init__(key_header="")
        self.url = self.url.replace("/hook", "/v3")

    @property
    def options(self) -> dict[str, str]:
        return {"api_key": TOKEN, "api_url": self.url}

    @property
    def mails(self) -> list[dict[str, str]]:
        return [_form(request) for request in self.requests]

    @property
    def keys(self) -> list[str]:
        return [_form(request)["v:delivery_id"] for request in self.requests]

    def _handle(self, request: ServerRequest) -> object:  # type: ignore[override] # what the base returns
        self.requests.append(request)
        if self._act is Act.HANG:
            return never()
        if self._act is Act.CUT:
            return cut()
        assert request.path == "/v3/shop.example/messages"
        login = "Basic " + base64.b64encode(f"api:{TOKEN}".encode()).decode()
        act = self._act if request.headers.get("authorization") == login else Act.BAD_CREDENTIALS
        if act is Act.ACCEPT:
            said = {"id": "<mg-1@shop.example>", "message": "Queued. Thank you."}
            return ServerAnswer(status=200, body=orjson.dumps(said))
        status = self.REFUSALS[act]
        text = f"'to' parameter is not a valid address: {_form(request)['to']}"
        body = orjson.dumps({"message": text})
        return ServerAnswer(status=status, body=body, headers=RETRY_AFTER * (status == 429))


def _form(request: ServerRequest) -> dict[str, str]:
    fields = parse_qs(request.body.decode(), keep_blank_values=True, strict_parsing=True)
    return {name: values[-1] for name, values in fields.items()}
