"""The receiver of status webhooks: keeps and verifies the posts to a producer's endpoint.

| request | answer |
| --- | --- |
| POST /webhooks | 204; the URL for `POST /v1/webhook-endpoints` in a demo |
| GET /webhooks | the page: newest first, each with the state of its signature |
| GET /webhooks.json | the same as JSON, oldest first |
| POST /webhooks/secret | the page's form, `secret=`: a secret that signatures are verified with |

Secrets and webhooks are in memory. A secret verifies earlier webhooks, too.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from providers import clock
from providers.errors import InvalidSignature
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from providers.standard_webhooks import HEADERS, Secret, verify

KEEP: Final = 200
"""Number of kept webhooks."""
_SECRETS: Final = 20
"""Number of kept secrets: an endpoint has one, and two during a rotation."""
_HERE: Final = Path(__file__).parent
_STYLE: Final = (_HERE / "page.css").read_text()
_TEMPLATE: Final = Environment(
    loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined
).get_template("webhooks.html")
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none';"
    " form-action 'self'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedWebhook:
    """A call of the service."""

    at: datetime
    headers: dict[str, str]
    """The headers of the signature, names in lower case."""
    body: bytes
    call: int
    """1 for the first call with the webhook-id, 2 for its repeat."""

    def signature(self, secrets: list[Secret]) -> str:
        """Return `verified`, `no secret`, or the reason for a refusal."""
        if not secrets:
            return "no secret"
        try:
            verify(self.body, headers=self.headers, secrets=secrets, now=self.at)
        except InvalidSignature as error:
            return str(error)
        return "verified"

    def as_json(self, secrets: list[Secret]) -> dict[str, Any]:
        """Return the webhook for /webhooks.json."""
        try:
            content = orjson.loads(self.body)
        except ValueError:
            content = self.body.decode(errors="replace")
        return {
            "at": self.at.isoformat(),
            "webhook_id": self.headers.get("webhook-id", ""),
            "call": self.call,
            "signature": self.signature(secrets),
            "body": content,
        }


@dataclass(slots=True)
class WebhookReceiver:
    """The webhooks, oldest first, and the secrets for signatures."""

    received: deque[ReceivedWebhook] = field(default_factory=lambda: deque(maxlen=KEEP))
    secrets: deque[Secret] = field(default_factory=lambda: deque(maxlen=_SECRETS))

    def answer(self, request: ServerRequest) -> ServerAnswer | None:
        """Answer a request of the table; None for any other request."""
        match request.method, request.path:
            case "POST", "/webhooks":
                return self._receive(request)
            case "POST", "/webhooks/secret":
                return self._add_secret(request)
            case "GET", "/webhooks":
                return self._page()
            case "GET", "/webhooks.json":
                return self._as_json()
            case _:
                return None

    def _receive(self, request: ServerRequest) -> ServerAnswer:
        """Keep a webhook."""
        headers = {name: request.headers[name] for name in HEADERS & request.headers.keys()}
        webhook_id = headers.get("webhook-id")
        same = (each.call for each in self.received if each.headers.get("webhook-id") == webhook_id)
        webhook = ReceivedWebhook(
            at=clock.now(), headers=headers, body=request.body, call=max(same, default=0) + 1
        )
        self.received.append(webhook)
        return ServerAnswer(status=HTTPStatus.NO_CONTENT)

    def _add_secret(self, request: ServerRequest) -> ServerAnswer:
        """Add the secret of the page's form; return to the page."""
        form = dict(parse_qsl(request.body.decode(errors="replace")))
        try:
            secret = Secret.parse(form.get("secret", "").strip())
        except ValueError as error:
            problem = {"code": "bad_request", "detail": f"{error}: send secret=whsec_..."}
            return ServerAnswer(status=HTTPStatus.BAD_REQUEST, body=orjson.dumps(problem))
        if secret not in self.secrets:
            self.secrets.append(secret)
        return ServerAnswer(status=HTTPStatus.SEE_OTHER, headers=(("Location", "/webhooks"),))

    def _as_json(self) -> ServerAnswer:
        """Return the webhooks as JSON, oldest first."""
        secrets = list(self.secrets)
        shown = [each.as_json(secrets) for each in self.received]
        return ServerAnswer(status=HTTPStatus.OK, body=orjson.dumps({"webhooks": shown}))

    def _page(self) -> ServerAnswer:
        """Return the page, newest first."""
        secrets = list(self.secrets)
        shown = [
            each.as_json(secrets) | {"text": _pretty(each.body)} for each in reversed(self.received)
        ]
        html = _TEMPLATE.render(webhooks=shown, secrets=len(secrets), style=_STYLE)
        return ServerAnswer(
            status=HTTPStatus.OK,
            body=html.encode(errors="replace"),
            content_type="text/html; charset=utf-8",
            headers=(("Content-Security-Policy", _POLICY), ("Cache-Control", "no-store")),
        )


def _pretty(body: bytes) -> str:
    try:
        return orjson.dumps(orjson.loads(body), option=orjson.OPT_INDENT_2).decode()
    except ValueError:
        return body.decode(errors="replace")
