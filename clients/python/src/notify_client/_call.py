"""Calls of the API. The body is encoded once, so all attempts send the same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote, urlencode
from uuid import UUID, uuid4

JSON: Final = "application/json"
CSV: Final = "text/csv"
_MAX_KEY: Final = 255


@dataclass(frozen=True, slots=True)
class Call:
    """A request that every attempt sends unchanged."""

    method: str
    target: str
    """Path and query, with everything quoted that needs it."""
    body: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    is_repeatable: bool = True
    """False: the service cannot tell a repeat, which would have a second effect."""

    @property
    def idempotency_key(self) -> str | None:
        """The idempotency key of the header."""
        return self.headers.get("Idempotency-Key")


def get(target: str, asked: Mapping[str, object] | None = None, **headers: str | None) -> Call:
    """Build a GET call."""
    return Call("GET", f"{target}{query(asked or {})}", headers=_headers(headers))


def write(method: str, target: str, body: object = None, **headers: str | None) -> Call:
    """Build a PUT, PATCH or DELETE call; `body` None means no body."""
    if body is None:
        return Call(method, target, headers=_headers(headers))
    return Call(method, target, encode(body), _headers(headers) | {"Content-Type": JSON})


def post(
    target: str, body: object, *, idempotency_key: str | None = None, **headers: str | None
) -> Call:
    """Build a POST call with the given idempotency key, or with a new key."""
    content, media_type = (body, CSV) if isinstance(body, bytes) else (encode(body), JSON)
    key = new_key() if idempotency_key is None else check_key(idempotency_key)
    given = _headers(headers) | {"Content-Type": media_type, "Idempotency-Key": key}
    return Call("POST", target, content, given)


def file(target: str, content: bytes, *, media_type: str, is_repeatable: bool = True) -> Call:
    """Build a POST call with a file, which has no idempotency key."""
    headers = {"Content-Type": media_type}
    return Call("POST", target, content, headers, is_repeatable=is_repeatable)


def post_with_own_key(target: str, body: Mapping[str, Any]) -> Call:
    """Build a POST call with the idempotency key in the body; a header would override the key."""
    return Call("POST", target, encode(body), {"Content-Type": JSON})


def new_key() -> str:
    """Return a random idempotency key."""
    return str(uuid4())


def check_key(key: str) -> str:
    """Return the key if a header can hold the key.

    HTTP strips spaces at the ends of a header, so two different keys would become equal.

    Raises:
        ValueError: the key is empty, too long, or has characters that a header cannot hold.
    """
    is_plain = key.isascii() and key.isprintable() and key == key.strip()
    if not 1 <= len(key) <= _MAX_KEY or not is_plain:
        raise ValueError(
            f"an idempotency key has 1 to {_MAX_KEY} printable ASCII characters without a space at"
            " its ends"
        )
    return key


def path(*parts: str | int | UUID) -> str:
    """Return a path under /v1 with quoted parts.

    Raises:
        ValueError: a part is empty, `.`, `..` or has a slash, and would name another path.
    """
    for part in map(str, parts):
        if part in {"", ".", ".."} or "/" in part:
            raise ValueError(f"{part!r} cannot be part of a path")
    return "/v1/" + "/".join(quote(str(part), safe="") for part in parts)


def encode(body: object) -> bytes:
    """Encode JSON in UTF-8. Instants may be `datetime` with a timezone, ids may be `UUID`.

    Raises:
        TypeError: a value has no JSON.
        ValueError: a number is not finite, text is no Unicode, or a `datetime` has no timezone.
    """
    text = json.dumps(body, default=_plain, allow_nan=False, ensure_ascii=False)
    return text.encode()


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return instant(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return list(value)
    raise TypeError(f"a {type(value).__name__} cannot be sent as JSON")


def instant(value: datetime) -> str:
    """ISO 8601.

    Raises:
        ValueError: the datetime has no timezone.
    """
    if value.utcoffset() is None:
        raise ValueError("a datetime needs a timezone, like datetime.now(UTC)")
    return value.isoformat()


def query(asked: Mapping[str, object]) -> str:
    """Return a query string with the question mark; empty without parameters."""
    pairs = [(name, _word(each)) for name, value in asked.items() for each in _several(value)]
    return f"?{urlencode(pairs)}" if pairs else ""


def _several(value: object) -> Sequence[object]:
    """Return the values of a filter; a string is a single value, and None is an empty list."""
    if value is None:
        return ()
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return instant(value) if isinstance(value, datetime) else str(value)


def _headers(given: Mapping[str, str | None]) -> dict[str, str]:
    """Return headers by Python name, without None values."""
    return {
        name.replace("_", "-").title(): value for name, value in given.items() if value is not None
    }
