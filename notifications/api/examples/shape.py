"""What an example is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from notifications.rules.lane import Mode

JSON: Final = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One call of an operation that succeeds in the demo's world."""

    summary: str
    status: int
    """Of the answer."""
    path: Mapping[str, str | int] = field(default_factory=dict)
    query: Mapping[str, str | int | Sequence[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    """Of JSON: the decoded value. Of any other media type: the text. None: no body."""
    media_type: str = JSON
    mode: Mode | None = Mode.LIVE
    """Of the key; None: the call has no key."""


Examples = Mapping[str, Mapping[str, Example]]
"""operationId -> the example's name -> the example."""

USER: Final = "u_789012"
ANOTHER_USER: Final = "u_ana"
TEMPLATE: Final = "order_ready_v3"
NOTIFICATION: Final = "0198f2a4-6b00-7c3e-9d21-5f0c8e7a1b42"
SCHEDULED: Final = "0198f2a4-6b00-7c3e-9d21-5f0c8e7a1b43"
DELIVERY: Final = "0198f2a4-6b00-7c3e-9d21-5f0c8e7a1b50"
TAG: Final = '"0f2c6d8e4b1a9375c0d2e4f6"'
"""Stands for the ETag of the object's last answer."""
