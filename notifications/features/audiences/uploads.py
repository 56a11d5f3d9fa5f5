"""Uploads: a stream of lines to a recipient list, in chunks.

The file is read once, with the memory of one chunk. A line with a fault, an unknown user id or a
repeated recipient is counted and does not stop the file. A stream that breaks off, and a file with
a wrong head, leave a failed list, which no audience can use.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterator
from typing import Final

from django.db import transaction

from notifications.core import clock
from notifications.core.models import ApiKey, RecipientList
from notifications.core.rules.csv_reader import ByteStream
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_lists import ListKind, ListState
from notifications.core.store.postgres import audit, locks
from notifications.features.audiences.rows import recipient_lists
from notifications.features.audiences.rows.recipient_lists import Chunk
from notifications.features.audiences.rules import upload_lines
from notifications.features.audiences.rules.upload_lines import (
    InvalidUpload,
    UploadFormat,
    UploadLine,
)

LINES_AT_ONCE: Final = 5_000
"""Most lines of a chunk, which is one transaction of some 100 ms."""
_CHUNK_SECONDS: Final = 10.0
"""After so many seconds a chunk is stored with fewer lines: a slow upload shows that it lives, and
learns that it was deleted."""
KEPT_FOR: Final = dt.timedelta(days=30)
AT_ONCE: Final = 2
"""Uploads that a process loads at the same time; each holds a connection to the database."""
BROKEN_OFF: Final = "the connection ended before the end of the file"
_ENDED: Final = "the upload was deleted, or made no progress for too long"

_ALIVE: Final = dt.timedelta(minutes=1)
"""Each chunk is a sign of life."""

_room = threading.BoundedSemaphore(AT_ONCE)


class UploadsBusy(Exception):
    """The process, or the producer, loads enough files at the moment: repeat the call later."""


@transaction.atomic
def begin_upload(*, mode: Mode, name: str, by: str, producer_id: int) -> RecipientList:
    """Create an empty upload of a producer, in the state `loading`.

    A producer loads one file at a time, over all processes: with two it could take all places of a
    process from other producers. An upload without progress for `_ALIVE`, as of a killed process,
    does not count.

    Raises:
        UploadsBusy: an upload of the producer is loading; no row was created.
    """
    locks.wait_for_transaction([f"uploads of producer {producer_id}"])
    running = RecipientList.objects.filter(
        kind=ListKind.UPLOAD,
        state=ListState.LOADING,
        deleted_at=None,
        touched_at__gt=clock.now() - _ALIVE,
    )
    keys = ApiKey.objects.filter(producer_id=producer_id).values_list("prefix", flat=True)
    ends = tuple(f"({prefix})" for prefix in keys)  # as `authentication.actor_of` names a key
    if any(name.endswith(ends) for name in running.values_list("created_by", flat=True)):
        raise UploadsBusy("an upload of the producer is running; repeat the call after its end")
    return begin(mode=mode, kind=ListKind.UPLOAD, name=name, by=by)


def begin(*, mode: Mode, kind: ListKind, name: str, by: str, **columns: object) -> RecipientList:
    """Create an empty recipient list in the state `loading`."""
    now = clock.now()
    return RecipientList.objects.create(
        mode=mode,
        kind=kind,
        name=name,
        created_at=now,
        created_by=by,
        touched_at=now,
        expires_at=now + KEPT_FOR,
        **columns,
    )


def load(upload: RecipientList, stream: ByteStream, form: UploadFormat) -> RecipientList:
    """Read a file into a loading upload; return the upload in its last state.

    Raises:
        InvalidUpload: the file cannot be used, or the upload was deleted; the upload has failed.
        OSError: the stream broke off; the upload has failed.
        UploadsBusy: the process loads AT_ONCE files already; nothing was read.
    """
    if not _room.acquire(blocking=False):
        recipient_lists.fail(upload.pk, reason="the process was busy with other uploads")
        raise UploadsBusy("too many uploads are running; repeat the call")
    try:
        for chunk in _chunks(stream, form):
            recipient_lists.add_lines(upload.pk, chunk, mode=Mode(upload.mode))
        _finish(upload)
    except InvalidUpload as error:
        recipient_lists.fail(upload.pk, reason=str(error))
        raise
    except recipient_lists.ListEnded as error:
        raise InvalidUpload(_ENDED) from error
    except OSError:
        recipient_lists.fail(upload.pk, reason=BROKEN_OFF)
        raise
    finally:
        _room.release()
    if upload.state != ListState.READY:
        raise InvalidUpload(_ENDED)
    return upload


@transaction.atomic
def _finish(upload: RecipientList) -> None:
    """Make a loaded upload usable, with its entry in the audit log."""
    is_ready = recipient_lists.finish(upload.pk)
    upload.refresh_from_db()
    if is_ready:
        after = {"members": upload.members}
        audit.record(upload.created_by, "upload_audience", upload, after=after)


def _chunks(stream: ByteStream, form: UploadFormat) -> Iterator[Chunk]:
    chunk, since = Chunk(), clock.steady()
    for line in upload_lines.read_lines(stream, form):
        if isinstance(line, UploadLine):
            chunk.lines.append(line)
        else:
            chunk.faults.append(line)
        if len(chunk) >= LINES_AT_ONCE or clock.steady() - since >= _CHUNK_SECONDS:
            yield chunk
            chunk, since = Chunk(), clock.steady()
    if len(chunk):
        yield chunk
