"""Documents of vendors as data: a request, answers and callbacks."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from providers.sandbox_server.wire import ServerAnswer
from providers.verdicts import Verdict

NUMBER = "+491511234567"
DIGITS = NUMBER.removeprefix("+")
DELIVERY = UUID(int=7)
TEXT = "Dein Code: 123456 €"
SECRET = "a-secret-of-the-callback"
PUBLIC = "https://notify.example.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A callback of the vendor's documents, and its meaning."""

    body: bytes
    says: str
    """`delivered`, `on its way`, or a kind of receipt and a verdict: `bounced dead`."""
    message_id: str
    names_delivery: bool = True
    is_query: bool = False
    """The body is the query of a GET."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetCase:
    """A preset and its vendor's documents."""

    settings: dict[str, str]
    target: str
    headers: dict[str, str]
    body: dict[str, Any]
    """JSON, or the fields of a form. `CALLBACK` stands for the address of the receipts."""
    taken: ServerAnswer
    message_id: str
    segments: int | None = None
    refusals: list[tuple[ServerAnswer, Verdict]]
    """Among them the answers for a wrong key and, if the vendor has one, for too many requests."""
    reports: list[Reported] = field(default_factory=list)


CALLBACK = "the address of the receipts"


def answer(status: int, body: object) -> ServerAnswer:
    return ServerAnswer(status=status, body=json.dumps(body).encode())


def plain(status: int, text: str) -> ServerAnswer:
    return ServerAnswer(status=status, body=text.encode(), content_type="text/plain")


def basic(user: str) -> dict[str, str]:
    return {"authorization": "Basic " + b64encode(user.encode()).decode()}


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}
