"""Audiences: snapshots are filled, and deleted topics and recipient lists are removed."""

from __future__ import annotations

import datetime as dt

import structlog

from notifications.core.models import RecipientList
from notifications.core.rules.recipient_lists import ListKind, ListState
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept
from notifications.features.audiences import snapshots, upkeep

_log = structlog.get_logger(__name__)


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Fill snapshots in turn, and remove up to `limit` rows of deleted topics and lists.

    Safe to run twice, concurrently or late: a page of a snapshot moves a guarded cursor, and
    removed rows belong to topics and lists that no audience uses. A snapshot with an exception
    stops no other snapshot; the next run tries the snapshot again.

    Raises:
        DATABASE_TROUBLE: the database is away; the next run goes on.
    """
    ended = upkeep.end_silent(now=now) + upkeep.expire(now=now)
    removed = upkeep.purge_lists(now=now, limit=limit) + upkeep.purge_topics(now=now, limit=limit)
    done = Swept(ended + removed, more=removed >= limit)
    loading = RecipientList.objects.filter(
        kind=ListKind.SNAPSHOT, state=ListState.LOADING, deleted_at=None
    )
    return done + loops.in_turn(loading.order_by("pk"), _advance, on_error=_log_error)


def _advance(snapshot: RecipientList) -> Swept:
    return Swept(1, more=not snapshots.advance(snapshot))


def _log_error(snapshot: RecipientList, _error: Exception) -> None:
    _log.exception("snapshot_failed", list=snapshot.pk)
