"""Removal of a user id from the stored expression of an audience, for erasures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

NOBODY: Final[Mapping[str, Any]] = {"attribute": "created_at", "before": "1970-01-01"}
"""An expression without recipients."""


def without_user(value: object, user_id: str) -> object:
    """Return the JSON value of an expression without a user id; a list never becomes empty."""
    match value:
        case {"user_ids": user_ids}:
            left = [each for each in user_ids if each != user_id]
            return {"user_ids": left} if left else dict(NOBODY)
        case dict():
            return {name: without_user(part, user_id) for name, part in value.items()}
        case list():
            return [without_user(each, user_id) for each in value]
        case _:
            return value
