"""Attributes of recipients: kinds, and the stored form of values.

A stored date is `2026-11-21`, or an instant in UTC such as `2026-11-21T09:00:00Z`. Both forms
compare as texts: a date is the beginning of its UTC day.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeAlias, TypeGuard

Value: TypeAlias = "str | int | float | bool | list[str]"

BUILT_IN: Final = ("locale", "timezone", "created_at")
"""Names of attributes that every recipient has."""
MAX_ATTRIBUTES: Final = 200
"""Definitions, and so attributes of a recipient."""
MAX_TEXT: Final = 256
"""Characters of a text."""
MAX_ITEMS: Final = 100
"""Texts in a list."""
MAX_NUMBER: Final = 10**15
"""Largest absolute value of a number."""
NAME_PATTERN: Final = r"^[A-Za-z0-9_.\-]{1,64}$"
_LONGEST_DATE: Final = 40


class AttributeKind(StrEnum):
    """The type of the values of an attribute."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    LIST = "list"
    """A list of texts."""


_SENTENCES: Final = {
    AttributeKind.TEXT: f"must be a text of at most {MAX_TEXT} characters",
    AttributeKind.NUMBER: "must be a number of at most 10^15",
    AttributeKind.BOOLEAN: "must be true or false",
    AttributeKind.DATE: "must be a date like 2026-11-21, or an instant like 2026-11-21T09:00:00Z",
    AttributeKind.LIST: f"must be a list of at most {MAX_ITEMS} texts",
}


def sentence_of(kind: AttributeKind) -> str:
    """Return the required form of a value of a kind, in words."""
    return _SENTENCES[kind]


def to_stored(value: object, kind: AttributeKind) -> Value | None:
    """Return the stored form of a value; None if the value is not of the kind."""
    match kind:
        case AttributeKind.TEXT:
            return value if is_text(value) else None
        case AttributeKind.NUMBER:
            return value if is_number(value) else None
        case AttributeKind.BOOLEAN:
            return value if isinstance(value, bool) else None
        case AttributeKind.DATE:
            return date_text(value)
        case AttributeKind.LIST:
            return _list(value)


def faults(values: Mapping[str, object], kinds: Mapping[str, AttributeKind]) -> dict[str, str]:
    """Return attribute name -> fault: unknown attributes, and values of another kind.

    A value of null has no fault: null removes the attribute.
    """
    found: dict[str, str] = {}
    for name, value in values.items():
        kind = kinds.get(name)
        if kind is None:
            found[name] = "unknown attribute; define the attribute first: PUT /v1/attributes/{name}"
        elif value is not None and to_stored(value, kind) is None:
            found[name] = f"{sentence_of(kind)}: the attribute has the kind {kind}"
    return found


def date_text(value: object) -> str | None:
    """Return the stored form of a date or instant; None for any other value."""
    if not isinstance(value, str) or len(value) > _LONGEST_DATE:
        return None
    try:
        if "T" not in value:
            return dt.date.fromisoformat(value).isoformat()
        instant = dt.datetime.fromisoformat(value)
        if instant.tzinfo is None:
            return None
        return instant_text(instant)
    except (ValueError, OverflowError):
        return None


def instant_text(instant: dt.datetime) -> str:
    """Return the stored form of an aware instant, to the second."""
    return f"{instant.astimezone(dt.UTC).replace(tzinfo=None, microsecond=0).isoformat()}Z"


def is_text(value: object) -> TypeGuard[str]:
    """Return True for a text that Postgres can store."""
    return isinstance(value, str) and len(value) <= MAX_TEXT and "\0" not in value


def is_number(value: object) -> TypeGuard[int | float]:
    """Return True for a number up to MAX_NUMBER; NaN and infinity are none."""
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MAX_NUMBER
    )


def _list(value: object) -> list[str] | None:
    if not isinstance(value, list) or len(value) > MAX_ITEMS:
        return None
    return value if all(map(is_text, value)) else None
