"""The rows of uploaded files. Contents are read for provider calls and for operators only."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID, uuid4

from django.db import connection

from notifications.core import clock, conf
from notifications.core.rules.attachments import FileKey, FileUse, StoredFile
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import db

UNUSED_KEPT: Final = dt.timedelta(days=1)
"""Time from an upload to the deletion, if no notification names the file."""
KNOWN_RECIPIENTS: Final = 10
"""Most recipients of a file that are stored. A file that more people got is no personal file."""
_DAY: Final = dt.timedelta(days=1)
_BYTES: Final = 100_000_000
"""Bytes of the contents that a statement deletes. Postgres deletes 100 MB in about a second."""
_FILES: Final = 500
"""Files that a statement locks."""
_PART_BYTES: Final = 256_000
"""Bytes of a content in a row of the answer."""
_SECONDS: Final = 10.0
"""Maximum duration of a run, beside the other deletions of the minute."""


class Upload(NamedTuple):
    """The result of an upload."""

    file: StoredFile
    kept_until: dt.datetime
    is_new: bool
    """False: the producer had uploaded the content before."""


def store(producer_id: int, mode: Mode, *, type_: str, content: bytes) -> Upload:
    """Store a file, or find the same content of an earlier upload. Safe to run twice.

    Raises:
        django.db.Error: nothing was stored.
    """
    now = clock.now()
    values = {
        "id": uuid4(),
        "producer": producer_id,
        "mode": mode,
        "digest": hashlib.sha256(content).digest(),
        "type": type_,
        "size": len(content),
        "content": content,
        "until": now + UNUSED_KEPT,
        "now": now,
    }
    [row] = db.retry_refused(lambda: db.rows("attachment_store", values))
    kept_until, is_new = row.pop("kept_until"), row.pop("is_new")
    return Upload(StoredFile(**row), kept_until, is_new)


def keep(
    wanted: Collection[FileKey], *, recipients: Collection[int] = ()
) -> Mapping[FileKey, StoredFile]:
    """Return the existing files, and keep each as long as a notification that is accepted now.

    A row is written once a day at most, because the time is a whole day. In an open transaction,
    which links the files later, the recipients are locked before the files, as an erasure does.

    Raises:
        django.db.OperationalError: the lock of a row was not granted in time.
    """
    if connection.in_atomic_block:
        db.rows("attachment_recipients", {"ids": list(recipients)})
        db.rows("attachment_lock", {"ids": [each.id for each in wanted]})
    values = {
        "producers": [each.producer_id for each in wanted],
        "modes": [int(each.mode) for each in wanted],
        "ids": [each.id for each in wanted],
        "until": end_of_use(clock.now()),
    }
    found = db.retry_refused(lambda: db.rows("attachment_keep", values))
    return {
        FileKey(row.pop("producer_id"), Mode(row.pop("mode")), row["id"]): StoredFile(**row)
        for row in found
    }


def end_of_use(now: dt.datetime) -> dt.datetime:
    """Return the time of deletion of a file that is used at `now`, a whole day."""
    end = now + conf.current().retention + 2 * _DAY
    return end.replace(hour=0, minute=0, second=0, microsecond=0)


def link(uses: Collection[FileUse]) -> Collection[FileUse]:
    """Store the recipients of files, in the caller's transaction.

    The recipients are locked before the files, as an erasure does. Returns the uses without a file
    or recipient; then the caller undoes the transaction.
    """
    people = {each.recipient_id for each in uses}
    recipients = {row["id"] for row in db.rows("attachment_recipients", {"ids": list(people)})}
    wanted = {"ids": list({each.id for each in uses})}
    locked = {row["id"] for row in db.rows("attachment_lock", wanted)}
    files = {row["id"] for row in db.rows("attachment_files", wanted)}
    gone = [each for each in uses if each.id not in files or each.recipient_id not in recipients]
    known = [each for each in sorted(uses) if each.id in locked]
    if known and not gone:
        values = {
            "ids": [each.id for each in known],
            "recipients": [each.recipient_id for each in known],
            "most": KNOWN_RECIPIENTS,
        }
        db.run("attachment_link", values)
    return gone


def erase(recipients: Sequence[int]) -> None:
    """Delete the files that only the erased recipients got, in the caller's transaction.

    The caller has locked the recipients. An acceptance locks recipients before files too, so no use
    by an erased recipient comes after the lock of the files.
    """
    values = {"recipients": recipients, "now": clock.now()}
    files = [row["id"] for row in db.rows("attachment_erase_lock", values)]
    if files:
        db.run("attachment_erase", {**values, "files": files})


def contents(ids: Iterable[UUID]) -> Mapping[UUID, bytes]:
    """Return the contents of the existing files.

    The contents come in parts: a connection keeps a buffer as large as the largest row that it has
    ever read.
    """
    parts: defaultdict[UUID, dict[int, bytes]] = defaultdict(dict)
    for row in db.stream("attachment_read", {"ids": list(ids), "length": _PART_BYTES}):
        parts[row["id"]][row["place"]] = row["part"]
    found: dict[UUID, bytes] = {}
    while parts:
        id_, by_place = parts.popitem()
        found[id_] = b"".join(by_place[place] for place in sorted(by_place))
    return found


def delete_expired(*, before: dt.datetime, limit: int) -> int:
    """Delete up to `limit` files past their time, in statements of about a second each.

    Safe to run twice, late or never. Ends after _SECONDS, and the next run goes on.

    Args:
        before: the present less the retention of notifications.
        limit: most files.
    """
    now = before + conf.current().retention - conf.current().max_clock_skew
    ends_at = clock.monotonic() + _SECONDS
    total, count = 0, 1
    while count and total < limit and clock.monotonic() < ends_at:
        values = {
            "now": now,
            "limit": min(_FILES, limit - total),
            "most_bytes": _BYTES,
            "until": end_of_use(now),
        }
        count = db.run("attachment_expire", values)
        total += count
    return total
