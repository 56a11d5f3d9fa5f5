"""Audiences: snapshots are filled, and deleted topics and recipient lists are removed."""

from __future__ import annotations

import datetime as dt

import structlog

from notifications.core import clock
from notifications.core.models import RecipientList
from notifications.core.rules.recipient_lists import ListKind, ListState
from notifications.core.sweeps import rounds
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
    ends_at = rounds.deadline()
    ended = upkeep.end_silent(now=now) + upkeep.expire(now=now)
    removed = upkeep.purge_lists(now=now, limit=limit) + upkeep.purge_topics(now=now, limit=limit)
    done = Swept(ended + removed, more=removed >= limit)
    open_ones = list(
        RecipientList.objects.filter(
            kind=ListKind.SNAPSHOT, state=ListState.LOADING, deleted_at=None
        ).order_by("pk")
    )
    while open_ones:
        for snapshot in tuple(open_ones):
            try:
                is_complete = snapshots.advance(snapshot)
            except rounds.DATABASE_TROUBLE:
                raise
            except Exception:  # noqa: BLE001 - whatever a snapshot causes, it must not stop the others
                _log.exception("snapshot_failed", list=snapshot.pk)
                done += Swept(failed=1)
                is_complete = True
            done += Swept(1)
            if is_complete:
                open_ones.remove(snapshot)
        if open_ones and clock.monotonic() >= ends_at:
            return done + Swept(more=True)
    return done
