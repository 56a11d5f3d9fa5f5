"""Inboxes: expired items, ended snoozes, entries of the cache, old items."""

from __future__ import annotations

import datetime as dt
import functools
from uuid import UUID

from notifications.core import clock, conf
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept
from notifications.features.inbox.rows import settling


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Settle inboxes with an expired item or a snooze that is over, `limit` inboxes at a time.

    Also clears the entries of the cache that writers could not clear. Safe to run twice,
    concurrently or late: a read settles its inbox by itself. Never: live clients do not learn of
    the changes, and an entry that a writer could not clear stays for up to an hour.
    """
    del now  # each batch has its own time
    return loops.repeat(functools.partial(_settle, limit=limit))


def _settle(*, limit: int) -> Swept:
    cleared = settling.clear_uncleared(limit=limit)
    recipients = settling.due(now=clock.now(), limit=limit)
    settled = settling.settle(recipients) if recipients else 0
    return Swept(cleared + settled, more=cleared >= limit or len(recipients) >= limit)


class _Position:
    """The process's place in the order of ids."""

    after: UUID = settling.PURGE_START


def purge(*, now: dt.datetime, limit: int) -> Swept:
    """Delete items past the retention of the inbox, `limit` items at a time.

    Safe to run twice, concurrently, late or never: the items stay in their inboxes until then. A
    new process begins with the oldest items again.
    """
    before = (now - conf.current().inbox_retention).date()
    return loops.repeat(functools.partial(_purge, before=before, limit=limit))


def _purge(*, before: dt.date, limit: int) -> Swept:
    purged = settling.purge(before=before, after=_Position.after, limit=limit)
    _Position.after = purged.position
    return Swept(purged.deleted, more=purged.position != settling.PURGE_START)
