"""Filter of dead letters."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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

    def to_json(self) -> dict[str, Any]:
        """Return the fields of the filter, except `ids`."""
        return {
            "reason": self.reason,
            "channel": self.channel,
            "provider": self.provider,
            "since": None if self.since is None else self.since.isoformat(),
            "until": None if self.until is None else self.until.isoformat(),
            "producer_id": self.producer_id,
            "mode": self.mode,
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> LetterFilter:
        """Read a filter stored by `to_json`."""
        return cls(
            reason=kept["reason"],
            channel=None if kept["channel"] is None else Channel(kept["channel"]),
            provider=kept["provider"],
            since=None if kept["since"] is None else dt.datetime.fromisoformat(kept["since"]),
            until=None if kept["until"] is None else dt.datetime.fromisoformat(kept["until"]),
            producer_id=kept["producer_id"],
            mode=None if kept["mode"] is None else Mode(kept["mode"]),
        )
