"""Reads the answers of chat services: error word, id of the message, wait, new address."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import orjson

from providers.transport import Response

CODE_LIMIT: Final = 64
"""Characters of a service's error word that may serve as a code."""
NO_CODE: Final = "no_code"
"""A success without the code that each answer of the service has: perhaps of a proxy."""
WECOM_GONE: Final = "invalid webhook url"
_LONGEST_WAIT_S: Final = 86_400
"""A larger number of a service is no wait, and may be no `timedelta`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer:
    """A service's answer."""

    code: str = ""
    """The service's own error word; empty: no error, or no word for the error."""
    message_id: str = ""
    retry_after: timedelta | None = None
    """Wait in the body, in seconds; the Response has the wait of a header."""
    moved_to: str = ""
    """The chat that took the place of the addressed chat."""


Read = Callable[[Response], ChatAnswer]
Path = tuple[str, ...]
"""Keys that lead to a value in a JSON document."""


def read_paths(*, code: Path = (), message_id: Path = (), wait: Path = ()) -> Read:
    """Return a reader of answers with fixed places for all values; `wait` is in seconds."""

    def read(response: Response) -> ChatAnswer:
        body = _body(response)
        return ChatAnswer(
            code=_text(body, code)[:CODE_LIMIT],
            message_id=_text(body, message_id),
            retry_after=_wait(body, wait),
        )

    return read


def read_number(*names: str, message_id: Path = ()) -> Read:
    """Return a reader of answers that always have a code, under one of the names; 0: no error."""

    def read(response: Response) -> ChatAnswer:
        body = _body(response)
        code = _number(response, body, names)
        return ChatAnswer(code=code, message_id="" if code else _text(body, message_id))

    return read


def _number(response: Response, body: object, names: Sequence[str]) -> str:
    numbers = [found for name in names if isinstance(found := _at(body, (name,)), int)]
    if not numbers:
        return NO_CODE if response.is_success else ""
    return str(numbers[0] or "")[:CODE_LIMIT]


def slack(response: Response) -> ChatAnswer:
    """Read a bot's answer, 200 and `{"ok": ..., "error": ...}`, or a webhook's, a bare word."""
    body = _body(response)
    if isinstance(body, dict) and "ok" in body:
        error = "" if body["ok"] else _text(body, ("error",)) or "unknown"
        return ChatAnswer(code=error[:CODE_LIMIT], message_id=_text(body, ("ts",)))
    word = response.body[:CODE_LIMIT].decode(errors="replace").strip()
    return ChatAnswer(code=word if re.fullmatch("[a-z_]+", word) and word != "ok" else "")


def telegram(response: Response) -> ChatAnswer:
    """Read `{"ok": ..., "description": "Forbidden: bot was ...", "parameters": {...}}`.

    https://core.telegram.org/bots/api#responseparameters: a group that grows becomes a supergroup
    with another id, `migrate_to_chat_id`.
    """
    body = _body(response)
    if _at(body, ("ok",)):
        return ChatAnswer(message_id=_text(body, ("result", "message_id")))
    words = _text(body, ("description",)).partition(": ")
    wait = _wait(body, ("parameters", "retry_after"))
    moved = _at(body, ("parameters", "migrate_to_chat_id"))
    moved_to = str(moved) if isinstance(moved, int) else ""
    return ChatAnswer(code=(words[2] or words[0])[:CODE_LIMIT], retry_after=wait, moved_to=moved_to)


def line(response: Response) -> ChatAnswer:
    """Read `{"message": "The property, 'to', ... is invalid (line: -, column: -)"}`.

    https://developers.line.biz/en/reference/messaging-api/#error-responses: sentences, no codes.
    """
    body = _body(response)
    sent = _at(body, ("sentMessages",))
    message_id = _text(sent[0], ("id",)) if isinstance(sent, list) and sent else ""
    words = _text(body, ("message",)).partition(" (")[0]
    return ChatAnswer(code=words[:CODE_LIMIT], message_id=message_id)


def pushover(response: Response) -> ChatAnswer:
    """Read `{"user": "invalid", "errors": [...], "status": 0}`: the refused field has its name."""
    body = _body(response)
    refused = [name for name in ("token", "user") if _at(body, (name,)) == "invalid"]
    code = f"{refused[0]} invalid" if refused else ""
    return ChatAnswer(code=code, message_id="" if code else _text(body, ("request",)))


def threema(response: Response) -> ChatAnswer:
    """Read the id of a message, which is the whole answer."""
    word = response.body[:CODE_LIMIT].decode(errors="replace").strip()
    return ChatAnswer(message_id=word if re.fullmatch("[0-9a-f]{16}", word) else "")


def wecom(response: Response) -> ChatAnswer:
    """Read `{"errcode": 93000, "errmsg": "invalid webhook url, hint: ..."}`.

    The same code stands for a text that is too long, so the words decide.
    """
    body = _body(response)
    code = _number(response, body, ("errcode",))
    is_gone = code == "93000" and _text(body, ("errmsg",)).startswith(WECOM_GONE)
    return ChatAnswer(code=WECOM_GONE if is_gone else code)


def status_alone(response: Response) -> ChatAnswer:
    """Read nothing, because only the HTTP status is documented."""
    del response
    return ChatAnswer()


def _body(response: Response) -> object:
    try:
        return orjson.loads(response.body)
    except ValueError:
        return None


def _at(document: object, path: Path) -> object:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document if path else None


def _text(document: object, path: Path) -> str:
    return str(_at(document, path) or "")


def _wait(document: object, path: Path) -> timedelta | None:
    value = _at(document, path)
    if not isinstance(value, int | float) or value <= 0:
        return None
    return timedelta(seconds=min(value, _LONGEST_WAIT_S))
