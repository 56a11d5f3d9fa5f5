"""Filter of dead letters."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from notifications.core.rules.lane import Mode
from providers.contract import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterFilter:
    """Filter for open dead letters: every given field must match; no fields match all."""

    ids: tuple[int, ...] | None = None
    reason: str = ""
    channel: Channel | None = None
    provider: str = ""
    since: dt.datetime | None = None
    until: dt.datetime | None = None
    producer_id: int | None = None
    mode: Mode | None = None
