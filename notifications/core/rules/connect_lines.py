"""Lines of a run of `manage.py connect`, which are stored and shown in the admin."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LineState(StrEnum):
    """The result of a line."""

    GOOD = "good"
    BAD = "BAD"
    CHANGED = "changed"
    PENDING = "would change"
    """In a dry run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectLine:
    """A line of a run; no secret, no address."""

    subject: str
    state: LineState
    detail: str
