"""Upkeep of topics and recipient lists: deleted, expired, or without an end of the file.

Rows are removed in pages, so a topic with 100 million subscribers delays no other work. Each step
is safe to run twice and late: a deleted topic or list is used by no audience from the moment of its
deletion.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications.core.models import RecipientList, Topic
from notifications.core.rules.recipient_lists import ListKind, ListState
from notifications.features.audiences.rows import recipient_lists, topics

SILENT_AFTER: Final = dt.timedelta(minutes=10)
"""An upload without progress for so long has lost its client or its process."""
_GRACE: Final = dt.timedelta(minutes=5)
"""A subscription that began before the deletion of its topic has ended by then."""
_KEPT: Final = dt.timedelta(days=30)
"""Time for which a deleted or failed list stays readable."""


def end_silent(*, now: dt.datetime) -> int:
    """Declare uploads without progress failed; return the number."""
    silent = RecipientList.objects.filter(
        kind=ListKind.UPLOAD, state=ListState.LOADING, touched_at__lt=now - SILENT_AFTER
    )
    return silent.update(
        state=ListState.FAILED, state_reason="the upload stopped before the end of the file"
    )


def expire(*, now: dt.datetime) -> int:
    """Delete the lists past their expiry; return the number."""
    return RecipientList.objects.filter(deleted_at=None, expires_at__lt=now).update(deleted_at=now)


def purge_lists(*, now: dt.datetime, limit: int) -> int:
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


def purge_topics(*, now: dt.datetime, limit: int) -> int:
    """Remove up to `limit` subscribers of deleted topics; return the number of rows."""
    done = 0
    for topic in Topic.objects.exclude(deleted_at=None).order_by("pk"):
        if done >= limit or topic.deleted_at is None:
            break
        removed = topics.purge(topic.pk, limit=limit - done)
        done += removed
        if not removed and topic.deleted_at < now - _GRACE:
            topic.delete()
    return done
