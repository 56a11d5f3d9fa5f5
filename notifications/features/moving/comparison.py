"""Messages that an earlier system logged beside the messages of this service, for a parallel run.

    recipient,type,time,channel            user id; notification type; ISO 8601 with offset
    u_1,ORDER_SHIPPED,2026-11-29T10:15:00Z,email

In a parallel run the producers go on sending by the earlier code, and post the same notification
here with a test key, which decides as a live key does and calls no provider. A logged message and a
message here are a pair if recipient, type and channel are equal and the times are near.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db
from notifications.features.moving import files
from notifications.features.moving.export import ExportFile, NotUnderstood, WrongExport
from notifications.features.moving.files import CsvLine
from providers.contract import Channel

MAX_LINES: Final = 1_000_000
"""Lines of a log, which take about 300 MB of memory."""
MAX_TOLD: Final = 100
"""Differences in a report; all of them are counted."""
_PAGE: Final = 5_000
_COLUMNS: Final = ("recipient", "type", "time", "channel")
_SENT: Final = (
    *(Status.SENT, Status.DELIVERED, Status.READ, Status.UNCONFIRMED, Status.BOUNCED),
    Status.UNKNOWN,
)
"""Statuses of deliveries that a provider, or the sandbox, was called for."""
_CHANNELS: Final = {each.label: each for each in Channel}


class MessageKey(NamedTuple):
    """The recipient, the type and the channel of a message."""

    user_id: str
    type: str
    channel: str


class _Here(NamedTuple):
    at: dt.datetime
    status: Status
    reason: str


class _Logged(NamedTuple):
    at: dt.datetime
    where: str


@dataclass(slots=True)
class Comparison:
    """The result of a comparison."""

    pairs: int = 0
    """Messages that both systems sent."""
    differences: Counter[str] = field(default_factory=Counter)
    """Number of differences by kind."""
    told: list[str] = field(default_factory=list)
    """The first MAX_TOLD differences."""
    faults: list[NotUnderstood] = field(default_factory=list)
    """Lines of the log that cannot be compared."""

    def add(self, kind: str, line: str) -> None:
        """Count a difference, and keep the first ones."""
        self.differences[kind] += 1
        if len(self.told) < MAX_TOLD:
            self.told.append(line)


def compare(log: ExportFile, *, mode: Mode, within: dt.timedelta) -> Comparison:
    """Compare a log with the notifications of its time; reads only.

    Args:
        log: the CSV of the earlier system.
        mode: mode of the notifications here.
        within: greatest difference of the times of a pair.

    Raises:
        WrongExport: the log lacks a column, is empty or too long.
    """
    result = Comparison()
    logged: defaultdict[MessageKey, list[_Logged]] = defaultdict(list)
    times: list[dt.datetime] = []
    for key, message in _lines(log, result):
        logged[key].append(message)
        times.append(message.at)
        if len(times) > MAX_LINES:
            raise WrongExport(f"{log.name} has more than {MAX_LINES} lines; compare shorter times")
    if not times:
        raise WrongExport(f"{log.name} has no line that can be compared")
    here = _messages(min(times) - within, max(times) + within, mode=mode)
    for key in sorted({*logged, *here}):
        _pair(key, sorted(logged.get(key, ())), sorted(here.get(key, ())), within, result)
    return result


def _lines(log: ExportFile, result: Comparison) -> Iterator[tuple[MessageKey, _Logged]]:
    for line in files.read_csv(log, required=_COLUMNS):
        if isinstance(line, NotUnderstood):
            result.faults.append(line)
            continue
        at = _instant(line)
        if at is None:
            said = "must be an instant with its offset, such as 2026-11-29T10:15:00Z"
            result.faults.append(NotUnderstood(line.place.below("time"), said))
        elif line.get("channel") not in _CHANNELS:
            said = f"must be one of {', '.join(_CHANNELS)}"
            result.faults.append(NotUnderstood(line.place.below("channel"), said))
        else:
            key = MessageKey(line.get("recipient"), line.get("type"), line.get("channel"))
            yield key, _Logged(at, line.place.where)


def _instant(line: CsvLine) -> dt.datetime | None:
    try:
        at = dt.datetime.fromisoformat(line.get("time"))
    except ValueError:
        return None
    return None if at.tzinfo is None else at


def _messages(
    since: dt.datetime, until: dt.datetime, *, mode: Mode
) -> dict[MessageKey, list[_Here]]:
    """Return the messages of this service by key, of notifications accepted in a time."""
    found: defaultdict[MessageKey, list[_Here]] = defaultdict(list)
    after: UUID = ids.floor_at(since)
    parameters = {
        "until": ids.floor_at(until + dt.timedelta(milliseconds=1)),
        "mode": int(mode),
        "sent": [int(each) for each in _SENT],
        "limit": _PAGE,
    }
    while rows := db.rows("sent_of_range", {**parameters, "after": after}):
        for row in rows:
            if row["channel"] is not None:
                key = MessageKey(row["user_id"], row["type"], Channel(row["channel"]).label)
                at = ids.time_of(row["id"])
                found[key].append(_Here(at, Status(row["status"]), row["reason"]))
        after = rows[-1]["id"]
    return found


def _pair(
    key: MessageKey,
    logged: Sequence[_Logged],
    here: Sequence[_Here],
    within: dt.timedelta,
    result: Comparison,
) -> None:
    """Pair the messages of one key, the earliest first, and add the differences."""
    rest = list(here)
    named = f"{key.user_id}, {key.type}, {key.channel}"
    for message in logged:
        while rest and rest[0].at < message.at - within:
            _add_alone(named, rest.pop(0), result)
        if not rest or rest[0].at > message.at + within:
            result.add("not posted here", f"{message.where}: {named}: not posted to this service")
            continue
        other = rest.pop(0)
        if other.status in _SENT:
            result.pairs += 1
        else:
            said = " ".join(filter(None, (other.status.label, other.reason)))
            result.add(f"not sent here: {said}", f"{message.where}: {named}: {said} here")
    for other in rest:
        _add_alone(named, other, result)


def _add_alone(named: str, other: _Here, result: Comparison) -> None:
    """Add a message that this service alone sent; a message without a send is no difference."""
    if other.status in _SENT:
        result.add("sent here alone", f"{named}, {other.at.isoformat()}: sent here alone")
