"""Open dead letters by cause: mode, reason and channel, with counts of the last hours."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import db
from providers.contract import Channel

COUNTED: Final = 20_000
"""Upper bound of the counted dead letters."""
HOURS: Final = 24
"""Hours with a count of their own; older dead letters are in the total only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A group of dead letters."""

    mode: Mode
    reason: str
    channel: Channel
    letters: int
    providers: Mapping[str, int]
    """Provider -> letters; an empty name for letters without a provider."""
    by_hour: Sequence[int]
    """Letters of each of the last HOURS hours, oldest hour first."""
    oldest: dt.datetime
    newest: dt.datetime
    detail: str
    """Detail of one letter of the newest hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Causes:
    """The groups, largest first."""

    groups: Sequence[Cause]
    letters: int
    is_capped: bool
    """More than COUNTED letters exist; the counts are lower bounds."""


@dataclass(slots=True)
class _Group:
    providers: Counter[str] = field(default_factory=Counter)
    hours: Counter[int] = field(default_factory=Counter)
    rows: list[dict[str, Any]] = field(default_factory=list)


def causes() -> Causes:
    """Return the groups of open dead letters that no replay job holds."""
    groups: dict[tuple[int, str, int], _Group] = {}
    for row in db.rows("dead_letter_causes", {"counted": COUNTED, "hours": HOURS}):
        group = groups.setdefault((row["mode"], row["reason"], row["channel"]), _Group())
        group.providers[row["provider"]] += row["letters"]
        group.hours[row["age"]] += row["letters"]
        group.rows.append(row)
    found = [_cause(key, group) for key, group in groups.items()]
    letters = sum(cause.letters for cause in found)
    return Causes(
        groups=sorted(found, key=lambda cause: (cause.mode, -cause.letters)),
        letters=letters,
        is_capped=letters >= COUNTED,
    )


def _cause(key: tuple[int, str, int], group: _Group) -> Cause:
    mode, reason, channel = key
    newest = max(group.rows, key=lambda row: row["newest"])
    return Cause(
        mode=Mode(mode),
        reason=reason,
        channel=Channel(channel),
        letters=group.providers.total(),
        providers=dict(group.providers.most_common()),
        by_hour=[group.hours[age] for age in reversed(range(HOURS))],
        oldest=min(row["oldest"] for row in group.rows),
        newest=newest["newest"],
        detail=newest["detail"],
    )
