"""The time range of a monitoring page, in the query of the URL.

    ?range=1h                                   the last hour; the page follows the clock
    ?from=2026-11-23T10:00Z&to=2026-11-23T12:00Z   a fixed time, as zooming makes it

Times without an offset are UTC, as everywhere in the admin. A link to a fixed time shows the same
plots to every reader.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from notifications.core.rules.rollups import Step

RANGES: Final[Mapping[str, dt.timedelta]] = {
    "15m": dt.timedelta(minutes=15),
    "1h": dt.timedelta(hours=1),
    "6h": dt.timedelta(hours=6),
    "24h": dt.timedelta(hours=24),
    "7d": dt.timedelta(days=7),
    "90d": dt.timedelta(days=90),
}
"""The ranges that end now, by name."""
DEFAULT: Final = "1h"
_STEPS: Final = tuple(
    dt.timedelta(minutes=minutes) for minutes in (1, 5, 15, 30, 60, 120, 360, 720, 1440)
)
"""Widths of a point; every width divides a day, so points begin at round times."""
_MOST_POINTS: Final = 100
_SHORTEST: Final = dt.timedelta(minutes=1)
_LONGEST: Final = dt.timedelta(days=400)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRange:
    """The time of the plots."""

    since: dt.datetime
    until: dt.datetime
    name: str = ""
    """A name of `RANGES`; empty for a fixed time."""

    @property
    def is_live(self) -> bool:
        """The range ends now, so the page loads new figures."""
        return bool(self.name)

    @property
    def step(self) -> dt.timedelta:
        """The width of one point: the shortest width with at most 100 points."""
        span = self.until - self.since
        return next((step for step in _STEPS if span / step <= _MOST_POINTS), _STEPS[-1])

    @property
    def query(self) -> str:
        """The range as the query of a URL."""
        if self.name:
            return urlencode({"range": self.name})
        return urlencode({"from": _text(self.since), "to": _text(self.until)})

    @property
    def sentence(self) -> str:
        """The range in words."""
        if self.name:
            return f"Last {LABELS[self.name]}"
        return f"{self.since:%Y-%m-%d %H:%M} to {self.until:%Y-%m-%d %H:%M} UTC"


LABELS: Final = {
    "15m": "15 minutes",
    "1h": "hour",
    "6h": "6 hours",
    "24h": "24 hours",
    "7d": "7 days",
    "90d": "90 days",
}


def read(query: Mapping[str, str], *, now: dt.datetime) -> TimeRange:
    """Return the range of a query; by default the last hour.

    Raises:
        ValueError: the range has another name, a time is not in ISO 8601, the time is longer
            than 400 days, or figures of the time are deleted.
    """
    if "from" in query or "to" in query:
        since = _time(query, "from")
        until = min(_time(query, "to"), now) if "to" in query else now
        if until - since < _SHORTEST:
            since = until - _SHORTEST
        if until - since > _LONGEST:
            raise ValueError("the time between from and to may have 400 days")
        if since < (oldest := Step.DAY.oldest(now)):
            raise ValueError(f"from is before the kept figures: use {_text(oldest)} or later")
        return TimeRange(since=since, until=until)
    name = query.get("range", DEFAULT)
    if name not in RANGES:
        raise ValueError(f"range is {name[:20]!r}: use one of {', '.join(RANGES)}")
    return TimeRange(since=now - RANGES[name], until=now, name=name)


def _time(query: Mapping[str, str], name: str) -> dt.datetime:
    text = query.get(name, "")
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(
            f"{name} is {text[:40]!r}: use a time such as 2026-11-23T10:00Z"
        ) from error
    return found.replace(tzinfo=found.tzinfo or dt.UTC).astimezone(dt.UTC)


def _text(instant: dt.datetime) -> str:
    return instant.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
