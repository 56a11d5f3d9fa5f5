"""Changed fields for an audit entry, redacted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from providers import graphemes

Facts = Mapping[str, object]
"""Field -> its value as JSON has it."""

HIDDEN: Final = "(hidden)"
HIDDEN_FIELDS: Final = frozenset({
    *("digest", "password", "key", "token", "session_key", "secret", "secrets"),
    *("attributes", "request", "snapshot", "body", "html", "title", "note", "undo_note", "detail"),
})
"""Secrets, attributes of recipients, and free text in which an address or a message may stand. The
metadata of a row is hidden too. The filter of a new cancel job is a text with masked addresses."""
ADDRESS_FIELDS: Final = frozenset({"address"})
LONGEST: Final = 200
"""Characters of a value."""
_EMPTY: Final[tuple[object, ...]] = (None, "", [], {})
_SHOWN: Final = 2
"""Characters that a masked address shows at its ends."""


def mask(address: str) -> str:
    """Mask an address: recognisable for the owner, useless for others: `ma…@…om`, `+4…78`."""
    local, at, domain = address.rpartition("@")
    if at:
        return f"{local[:_SHOWN]}…@…{domain[-_SHOWN:]}"
    if len(address) < 4 * _SHOWN:
        return "…"
    return f"{address[:_SHOWN]}…{address[-_SHOWN:]}"


def display_value(name: str, value: object) -> object:
    """Return a field's value in the form of an audit entry."""
    if value in _EMPTY:
        return value
    if name in HIDDEN_FIELDS or (name == "metadata" and isinstance(value, dict)):
        return HIDDEN
    if name in ADDRESS_FIELDS:
        return mask(str(value))
    if isinstance(value, str):
        return graphemes.cut(value, LONGEST)
    return value


def difference(before: Facts, after: Facts) -> tuple[dict[str, object], dict[str, object]]:
    """Return the changed fields before and after, redacted.

    For a created or deleted object, return the fields with a value.
    """
    if before and after:
        changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    else:
        there = {**before, **after}
        changed = {name for name, value in there.items() if value not in _EMPTY}
    return (
        {name: display_value(name, before[name]) for name in sorted(changed) if name in before},
        {name: display_value(name, after[name]) for name in sorted(changed) if name in after},
    )
