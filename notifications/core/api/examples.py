"""The type of an example of an operation, for the OpenAPI document; tests send the examples.

The examples use the recipients, types and templates of the demo (`management.demo_data`). Numbers
and ids stand for values from the service's responses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Final

from notifications.core.rules.lane import Mode

JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Example:
    """A call of an operation which succeeds with the demo's data."""

    summary: str
    _: KW_ONLY
    status: int = 0
    """Status of the response; 0: the first status of the declaration."""
    path: Mapping[str, str | int] = field(default_factory=dict)
    query: Mapping[str, str | int | Sequence[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    """For JSON: the decoded value. For other media types: the text. None: no body."""
    media_type: str = JSON
    mode: Mode | None = Mode.LIVE
    """Mode of the key; None: a call without a key."""


Examples = Mapping[str, Mapping[str, Example]]
"""operationId -> name of the example -> example."""

USER: Final = "u_789012"
ANOTHER_USER: Final = "u_ana"
TEMPLATE: Final = "order_ready_v3"
NOTIFICATION: Final = "0198f2a4-6b00-7c3e-9d21-5f0c8e7a1b42"
SCHEDULED: Final = "0198f2a4-6b00-7c3e-9d21-5f0c8e7a1b43"
DELIVERY: Final = "0198f2a4-6b00-7c3e-9d21-5f0c8e7a1b50"
SERIES: Final = "cart-reminder"
MESSAGE: Final = "0198f2a4-6b00-7c3e-9d21-5f0c8e7a1b60"
ANOTHER_MESSAGE: Final = "0198f2a4-6b00-7c3e-9d21-5f0c8e7a1b61"
BULK_JOB: Final = "0198f2a4-6b00-7c3e-9d21-5f0c8e7a1b70"
SOON: Final = "2026-12-01T08:00:00Z"
"""Stands for an instant of the next days."""
CLIENT_TOKEN: Final = "WzEsNDcxMSwxNzkzMDAwMDAwXQ.q1dXb0c2r7m3n5p8s0t4v6w9y1z3A5C7E9G1I3K5M7O"  # noqa: S105 - an example
"""Stands for a token of USER's app."""
TAG: Final = '"0f2c6d8e4b1a9375c0d2e4f6"'
"""Stands for the ETag of the last response."""
