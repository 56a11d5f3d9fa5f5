"""Find: read notifications of the archive again, by notification, user or idempotency key.

A notification's id names the day. A user is found by the recipient's row: the files are sorted by
recipient, so each day costs the footer and a row group. An idempotency key is found in the key
index of each day. Several days are read at a time.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq

from notifications.core.models import ArchiveFile, ArchiveState, Producer, Recipient
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.times.claims import Told, with_claims
from notifications.features.archive import columns, personal, targets
from notifications.features.archive import keys as archive_keys
from notifications.features.archive.personal import Unreadable
from notifications.features.archive.targets import ArchiveUnavailable, Target

_READERS: Final = 8
"""Days read at a time: S3 answers a range in some 50 ms."""
Row = dict[str, Any]
_Filter = list[tuple[str, str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The first and the last day of a search in the archive; None: no limit."""

    since: dt.date | None = None
    until: dt.date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedNotification:
    """A notification with the timeline; statuses and channels are numbers, as in the tables."""

    notification: Row
    """Plain columns; the personal values, or `erased`: true after the recipient's erasure."""
    deliveries: list[Row] = field(default_factory=list)
    attempts: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)

    def to_json(self) -> Row:
        """Return the parts as one object."""
        return {
            **self.notification,
            "deliveries": self.deliveries,
            "attempts": self.attempts,
            "events": self.events,
        }


@dataclass(frozen=True, slots=True)
class _Day:
    """The files of an archived day, by table."""

    target: Target
    names: Mapping[str, str]

    def read(self, table: str, filters: _Filter) -> list[Row]:
        """Return the matching rows; row groups without a match are not read.

        Raises:
            ArchiveUnavailable: the folder or bucket is away, or has no such file.
            Unreadable: the file is damaged.
        """
        name = self.names[table]
        with self.target.open(name) as file:
            try:
                found = pq.read_table(pa.PythonFile(file, "r"), filters=filters, use_threads=False)
                rows: list[Row] = found.to_pylist()
            except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
                # pyarrow raises OSError for a damaged page.
                raise Unreadable(f"{name} is damaged: {error}") from error
        return rows


def by_notification(any_id: UUID) -> list[ArchivedNotification]:
    """Return the notification of an id (of a notification or delivery); empty if not archived.

    Raises:
        ArchiveUnavailable: the folder or bucket is away, or there is no archive.
        Unreadable: the file is damaged.
        UnreadableKey: an encryption key is missing in the settings.
    """
    id_ = ids.notification_of(any_id)
    day = ids.day_of(id_)
    return [
        found
        for each in _days(Period(since=day, until=day))
        for found in _complete(each, each.read("notification", _with_recipient(each, id_)))
    ]


def by_user(user_id: str, *, mode: Mode, period: Period) -> Iterator[ArchivedNotification]:
    """Yield the notifications of a recipient, the newest day first; nothing after an erasure.

    Raises:
        ArchiveUnavailable, Unreadable, UnreadableKey: as `by_notification`.
    """
    recipient = Recipient.objects.filter(mode=mode, user_id=user_id).values_list("pk").first()
    if recipient is None:
        return
    filters: _Filter = [("recipient_id", "=", recipient[0])]
    yield from _each(_days(period), "notification", filters)


def by_key(key: str, *, producer: str = "", period: Period) -> Iterator[ArchivedNotification]:
    """Yield the notifications with an idempotency key, of one producer or of all.

    Raises:
        ArchiveUnavailable, Unreadable, UnreadableKey: as `by_notification`.
    """
    producers = Producer.objects.filter(name=producer) if producer else Producer.objects.all()
    hashes = [
        each
        for pk in producers.values_list("pk", flat=True)
        for mode in Mode
        for each in personal.key_hashes(pk, mode, key)
    ]
    days = _days(period)
    hits = _read_all(days, columns.KEY_INDEX, [("hash", "in", hashes)]) if hashes else ()
    for day, rows in hits:
        for row in rows:
            filters = _with_recipient(day, UUID(row["id"]))
            for found in _complete(day, day.read("notification", filters)):
                # 64 bits can collide; an erased recipient's key cannot be compared.
                if found.notification.get("idempotency_key", key) == key:
                    yield found


def _days(period: Period) -> list[_Day]:
    target = targets.current()
    if target is None:
        raise ArchiveUnavailable("NOTIFY_ARCHIVE_URL is off: there is no archive")
    files = ArchiveFile.objects.filter(day__state=ArchiveState.ARCHIVED)
    if period.since:
        files = files.filter(day_id__gte=period.since)
    if period.until:
        files = files.filter(day_id__lte=period.until)
    names: dict[dt.date, dict[str, str]] = {}
    for day, table, name in files.order_by("-day_id").values_list("day_id", "table", "name"):
        names.setdefault(day, {})[table] = name
    return [_Day(target, each) for each in names.values()]


def _each(days: Sequence[_Day], table: str, filters: _Filter) -> Iterator[ArchivedNotification]:
    for day, rows in _read_all(days, table, filters):
        yield from _complete(day, rows)


def _read_all(
    days: Sequence[_Day], table: str, filters: _Filter
) -> Iterator[tuple[_Day, list[Row]]]:
    pool = ThreadPoolExecutor(_READERS, "archive-find")
    try:
        found = pool.map(lambda day: day.read(table, filters), days)
        yield from ((day, rows) for day, rows in zip(days, found, strict=True) if rows)
    finally:
        # A caller that has enough, or an error, ends the search: the days that wait are not read.
        pool.shutdown(cancel_futures=True)


def _with_recipient(day: _Day, id_: UUID) -> _Filter:
    """Return the filter of a notification; the recipient of a delivery narrows the row groups."""
    wanted: _Filter = [("id", "=", str(id_))]
    deliveries = day.read("delivery", _range("id", id_))
    recipients: _Filter = [("recipient_id", "=", each["recipient_id"]) for each in deliveries[:1]]
    return [*recipients, *wanted]


def _range(column: str, id_: UUID) -> _Filter:
    return [(column, ">=", str(id_)), (column, "<=", str(ids.last_delivery_of(id_)))]


def _complete(day: _Day, rows: Iterable[Row]) -> Iterator[ArchivedNotification]:
    """Add personal values and timelines to rows of `notification`."""
    rows = list(rows)
    keys = archive_keys.of_recipients({row["recipient_id"] for row in rows})
    for row in rows:
        yield _with_timeline(day, row, keys.get(row["recipient_id"]))


def _with_timeline(day: _Day, row: Row, key: bytes | None) -> ArchivedNotification:
    id_ = UUID(row["id"])
    plain = {name: value for name, value in row.items() if name != columns.PERSONAL}
    found = ArchivedNotification(
        notification=plain,
        deliveries=day.read("delivery", _range("id", id_)),
        attempts=day.read("attempt", _range("delivery_id", id_)),
        events=day.read("event", [("notification_id", "=", row["id"])]),
    )
    values = personal.values(row[columns.PERSONAL], row["id"], key)
    if values is None:
        plain["erased"] = True
        found.events[:] = with_claims(found.events, _to_told, _claim)
        return found
    details = dict(values)
    of_events = details.pop("event_details") or {}
    of_attempts = details.pop("attempt_details") or {}
    plain |= details
    for event in found.events:
        event["detail"] = of_events.get(str(event["seq"]), "")
    found.events[:] = with_claims(found.events, _to_told, _claim)
    for attempt in found.attempts:
        place = f"{attempt['delivery_id']} {attempt['number']}"
        attempt["detail"] = of_attempts.get(place, "")
    return found


def _to_told(event: Row) -> Told:
    # Files of the first release have no time of a claim: their claims are events.
    return Told(event["delivery_id"], event["status"], event["at"], event.get("claimed_at"))


def _claim(told: Told, beside: Row) -> Row:
    empty = {"reason": "", "detail": "", "occurred_at": None, "claimed_at": None}
    own = {name: value for name, value in empty.items() if name in beside}
    place = {"delivery_id": told.delivery_id, "status": told.status, "at": told.at}
    return beside | own | place
