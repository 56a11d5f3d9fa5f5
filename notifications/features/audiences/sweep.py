"""Audiences: snapshots are filled, and deleted topics and recipient lists are removed."""

from __future__ import annotations

import datetime as dt
from typing import Final

import structlog

from notifications.core.models import RecipientList, Topic
from notifications.core.rules.recipient_lists import ListKind, ListState
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept
from notifications.features.audiences import snapshots
from notifications.features.audiences.rows import recipient_lists, topics

_log = structlog.get_logger(__name__)

_SILENT_AFTER: Final = dt.timedelta(minutes=10)
"""An upload without progress for so long has lost its client or its process."""
_GRACE: Final = dt.timedelta(minutes=5)
"""A subscription that began before the deletion of its topic has ended by then."""
_KEPT: Final = dt.timedelta(days=30)
"""Time for which a deleted or failed list stays readable."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Fill snapshots in turn, and remove up to `limit` rows of deleted topics and lists.

    Safe to run twice, concurrently or late: a page of a snapshot moves a guarded cursor, and
    removed rows belong to topics and lists that no audience uses. A snapshot with an exception
    stops no other snapshot; the next run tries the snapshot again.

    Raises:
        DATABASE_TROUBLE: the database is away; the next run goes on.
    """
    ended = _end_silent_uploads(now=now) + _expire_lists(now=now)
    removed = _purge_lists(now=now, limit=limit) + _purge_topics(now=now, limit=limit)
    done = Swept(ended + removed, more=removed >= limit)
    loading = RecipientList.objects.filter(
        kind=ListKind.SNAPSHOT, state=ListState.LOADING, deleted_at=None
    )
    return done + loops.in_turn(loading.order_by("pk"), _advance, on_error=_log_error)


def _advance(snapshot: RecipientList) -> Swept:
    return Swept(1, more=not snapshots.advance(snapshot))


def _log_error(snapshot: RecipientList, _error: Exception) -> None:
    _log.exception("snapshot_failed", list=snapshot.pk)


def _end_silent_uploads(*, now: dt.datetime) -> int:
    """Declare uploads without progress failed; return the number."""
    silent = RecipientList.objects.filter(
        kind=ListKind.UPLOAD, state=ListState.LOADING, touched_at__lt=now - _SILENT_AFTER
    )
    return silent.update(
        state=ListState.FAILED, state_reason="the upload stopped before the end of the file"
    )


def _expire_lists(*, now: dt.datetime) -> int:
    """Delete the lists past their expiry; return the number."""
    return RecipientList.objects.filter(deleted_at=None, expires_at__lt=now).update(deleted_at=now)


def _purge_lists(*, now: dt.datetime, limit: int) -> int:
    """Remove up to `limit` members of deleted and failed lists; return the number of rows."""
    done = 0
    unused = RecipientList.objects.exclude(deleted_at=None) | RecipientList.objects.filter(
        state=ListState.FAILED
    )
    for row in unused.order_by("pk"):
        if done >= limit:
            break
        removed = recipient_lists.purge(row.pk, limit=limit - done)
        done += removed
        if not removed and row.touched_at < now - _KEPT and not recipient_lists.has_members(row.pk):
            row.delete()
    return done


def _purge_topics(*, now: dt.datetime, limit: int) -> int:
    """Remove up to `limit` subscribers of deleted topics; return the number of rows.

    Rows are removed in pages, so a topic with 100 million subscribers delays no other work. The
    step is safe to run twice and late: no audience uses a deleted topic from the moment of its
    deletion; so with lists.
    """
    done = 0
    for topic in Topic.objects.exclude(deleted_at=None).order_by("pk"):
        if done >= limit or topic.deleted_at is None:
            break
        removed = topics.purge(topic.pk, limit=limit - done)
        done += removed
        if not removed and topic.deleted_at < now - _GRACE:
            topic.delete()
    return done
