"""Page 1 and the counts of inboxes in the state Redis, exact after each write.

A writer marks the recipients and deletes their entries before the commit, and removes the mark
after the commit. A reader without an entry gets a lease, unless a writer is at work, and reads
Postgres; the entry is stored only if the lease is still there, because a mark deletes the lease.
So no entry is older than the last committed write, in any interleaving.

    killed writer            the mark ends after MARK_LASTS, longer than a transaction may last
    state Redis is away      readers use Postgres; a writer notes the recipients in
                             `inbox_uncleared`, in the same transaction, and the sweep `inbox`
                             clears the entries as soon as the state Redis is back; a process
                             that reaches the state Redis before the sweep gives the old entry
    state Redis restarted    a snapshot, an append-only file or a replica may bring back a deleted
                             entry or lease: each is valid for one run of the server only
    state Redis lost data    no entry, no lease: readers use Postgres. A writer at work has lost the
                             mark, and deletes an entry of that time after the commit.

The last case has a gap of milliseconds between the commit and the deletion; a writer killed
in that gap, after a loss of data during its transaction, leaves an old entry until KEPT is over.
"""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, cast

import structlog
from django.db import Error

from notifications.core import clock
from notifications.core.models import InboxUncleared
from notifications.core.store.redis import state
from notifications.core.telemetry import instruments

MARK_LASTS: Final = dt.timedelta(seconds=120)
"""Longer than `heads.LONGEST`, the idle timeout of a transaction (30 s) and a commit together."""
KEPT: Final = dt.timedelta(hours=1)
"""An entry with 50 items has about 6 KB."""
_LEASE: Final = dt.timedelta(seconds=10)
"""Longer than a reader needs; a slower reader stores nothing."""
_MILLISECOND: Final = dt.timedelta(milliseconds=1)
_log = structlog.get_logger(__name__)


class Cached(NamedTuple):
    """A field of an entry, or the lease for storing the field; neither while a writer works."""

    value: bytes | None
    lease: bytes | None


def new_token() -> str:
    """Return a token for a writer or a lease."""
    return secrets.token_hex(8)


def channel(recipient_id: int) -> str:
    """Return the pub/sub channel on which each new version of the recipient's inbox is published.

    The message is the version as text.
    """
    return f"inbox:{recipient_id}"


def _entry(recipient_id: int) -> str:
    return f"inbox:entry:{recipient_id}"


def _writers(recipient_id: int) -> str:
    return f"inbox:writers:{recipient_id}"


def read(recipient_id: int, field: str) -> Cached:
    """Return a field of the recipient's entry; neither value nor lease if the state is away."""
    keys = [_entry(recipient_id), _writers(recipient_id)]
    try:
        answer = state.call("inbox_read", keys, [field, new_token(), _LEASE // _MILLISECOND])
    except state.Away:
        instruments.INBOX_READS.labels("away").inc()
        return Cached(None, None)
    cached = Cached(*cast("list[bytes | None]", answer))
    instruments.INBOX_READS.labels("miss" if cached.value is None else "hit").inc()
    return cached


def fill(recipient_id: int, lease: bytes | None, fields: Mapping[str, bytes]) -> None:
    """Store fields that were read from Postgres after the lease was given."""
    if lease is None:
        return
    pairs = [each for pair in fields.items() for each in pair]
    try:
        state.call("inbox_fill", [_entry(recipient_id)], [lease, KEPT // _MILLISECOND, *pairs])
    except state.Away:
        return  # the next reader fills


def mark(recipient_ids: Sequence[int], token: str) -> bool:
    """Announce a write and delete the entries; False if the state Redis is away."""
    keys = [key for each in recipient_ids for key in (_entry(each), _writers(each))]
    try:
        state.call("inbox_mark", keys, [token, MARK_LASTS // _MILLISECOND])
    except state.Away:
        return False
    return True


def release(recipient_ids: Sequence[int], versions: Mapping[int, int], *, token: str) -> None:
    """End a write after its commit or rollback, and publish the new versions. Never raises.

    Without it the mark ends by itself, and live clients learn of the version by a heartbeat.
    """
    if clear(recipient_ids, versions, token=token) or not versions:
        return
    try:
        note_uncleared(versions)
    except Error:
        _log.warning("inbox_not_cleared", recipients=len(versions), exc_info=True)


def note_uncleared(recipient_ids: Collection[int]) -> None:
    """Store recipients with entries to clear; joins an open transaction."""
    at = clock.now()
    rows = [InboxUncleared(recipient_id=each, at=at) for each in sorted(recipient_ids)]
    InboxUncleared.objects.bulk_create(rows)


def clear(recipient_ids: Sequence[int], versions: Mapping[int, int], *, token: str = "") -> bool:
    """Delete entries and the writer's marks, publish versions; False if the state is away."""
    keys = [key for each in recipient_ids for key in (_entry(each), _writers(each), channel(each))]
    published = [str(versions.get(each, "")) for each in recipient_ids]
    try:
        state.call("inbox_release", keys, [token, *published])
    except state.Away:
        return False
    return True
