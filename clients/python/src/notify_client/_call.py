"""One call of the API, with its body made into bytes once: each attempt sends the same."""

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
    """A request that can be sent again."""

    method: str
    target: str
    """Path and query, with everything quoted that needs it."""
    body: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def idempotency_key(self) -> str | None:
        """The key in its header."""
        return self.headers.get("Idempotency-Key")


def get(target: str, asked: Mapping[str, object] | None = None, **headers: str | None) -> Call:
    """A call that reads."""
    return Call("GET", f"{target}{query(asked or {})}", headers=_headers(headers))


def write(method: str, target: str, body: object = None, **headers: str | None) -> Call:
    """A PUT, PATCH or DELETE; `body` None: it has none."""
    if body is None:
        return Call(method, target, headers=_headers(headers))
    return Call(method, target, encoded(body), _headers(headers) | {"Content-Type": JSON})


def post(
    target: str, body: object, *, idempotency_key: str | None = None, **headers: str | None
) -> Call:
    """A POST with its idempotency key, or with one of its own."""
    content, media_type = (body, CSV) if isinstance(body, bytes) else (encoded(body), JSON)
    key = new_key() if idempotency_key is None else checked_key(idempotency_key)
    given = _headers(headers) | {"Content-Type": media_type, "Idempotency-Key": key}
    return Call("POST", target, content, given)


def post_with_own_key(target: str, body: Mapping[str, Any]) -> Call:
    """A POST whose body has an idempotency key; a header would replace it."""
    return Call("POST", target, encoded(body), {"Content-Type": JSON})


def new_key() -> str:
    """An idempotency key that nobody has used."""
    return str(uuid4())


def checked_key(key: str) -> str:
    """A key that fits into a header.

    Raises:
        ValueError: it is empty, too long, or has characters that a header cannot hold.
    """
    if not 1 <= len(key) <= _MAX_KEY or not key.isascii() or not key.isprintable():
        raise ValueError(f"an idempotency key has 1 to {_MAX_KEY} printable ASCII characters")
    return key


def path(*parts: str | int | UUID) -> str:
    """A path under /v1, each part quoted.

    Raises:
        ValueError: a part is empty, `.`, `..` or holds a slash: it would name another path.
    """
    for part in map(str, parts):
        if part in {"", ".", ".."} or "/" in part:
            raise ValueError(f"{part!r} cannot be part of a path")
    return "/v1/" + "/".join(quote(str(part), safe="") for part in parts)


def encoded(body: object) -> bytes:
    """JSON in UTF-8. Instants may be `datetime` with a timezone, ids `UUID`.

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
        ValueError: it has no timezone, so that nobody knows which instant it is.
    """
    if value.utcoffset() is None:
        raise ValueError("a datetime needs a timezone, like datetime.now(UTC)")
    return value.isoformat()


def query(asked: Mapping[str, object]) -> str:
    """A query string with its question mark; empty where nothing is asked."""
    pairs = [(name, _word(each)) for name, value in asked.items() for each in _several(value)]
    return f"?{urlencode(pairs)}" if pairs else ""


def _several(value: object) -> Sequence[object]:
    """A filter's values: a text is one of them, None is none."""
    if value is None:
        return ()
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return instant(value) if isinstance(value, datetime) else str(value)


def _headers(given: Mapping[str, str | None]) -> dict[str, str]:
    """Headers by their names in Python; None: absent."""
    return {
        name.replace("_", "-").title(): value for name, value in given.items() if value is not None
    }
