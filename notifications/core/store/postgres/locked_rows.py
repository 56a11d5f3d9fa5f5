"""Locked rows: a row that a frozen transaction holds must not hold up its neighbours.

A write of many rows waits for locked rows up to `lock_timeout`, and then runs again without these
rows. In an open transaction the first try has a savepoint. The write of a member of a fallback
chain also locks the notification, so a member with a locked notification is left out too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from typing import TypeVar
from uuid import UUID

import structlog
from django.db import OperationalError, connection, transaction

from notifications.core.rules import ids
from notifications.core.store.postgres import db, db_errors, id_ranges

Answer = TypeVar("Answer")
_log = structlog.get_logger(__name__)


def leave_out(
    write: Callable[[Sequence[UUID]], Answer],
    delivery_ids: Sequence[UUID],
    *,
    members: Collection[UUID] = (),
) -> tuple[Answer, Sequence[UUID]]:
    """Write deliveries; after a lock timeout, write the deliveries without a foreign lock.

    Args:
        write: writes the given deliveries in one transaction; runs twice after a lock timeout, the
            second time perhaps without a delivery.
        delivery_ids: the deliveries, in the order of the write.
        members: the members of fallback chains, if the write can open a next channel.

    Returns:
        The answer of the write, and the ids of locked deliveries.

    Raises:
        OperationalError: any refusal of the database except a lock timeout, or a lock timeout of
            another table.
    """
    try:
        with transaction.atomic() if connection.in_atomic_block else nullcontext():
            return write(delivery_ids), ()
    except OperationalError as error:
        if not db_errors.is_lock_timeout(error):
            raise

    def write_free() -> tuple[Answer, Sequence[UUID]]:
        free = _lock_free(delivery_ids, members)
        locked = [each for each in delivery_ids if each not in free]
        return write([each for each in delivery_ids if each in free]), locked

    answer, locked = db.in_transaction(write_free)
    _log.warning("rows_locked", locked=len(locked), count=len(delivery_ids))
    return answer, locked


def lock(delivery_ids: Collection[UUID]) -> None:
    """Lock deliveries until the open transaction ends, except those with a foreign lock."""
    _lock_free(list(delivery_ids), ())


def _lock_free(delivery_ids: Sequence[UUID], members: Collection[UUID]) -> set[UUID]:
    """Lock free notifications of chains, then free deliveries; returns the deliveries."""
    chains = {ids.notification_of(each) for each in members}
    busy: set[UUID] = set()
    if chains:
        found = db.rows("chain_busy", {**id_ranges.around(chains), "ids": sorted(chains)})
        busy = {row["id"] for row in found}
    asked = [each for each in delivery_ids if ids.notification_of(each) not in busy]
    if not asked:
        return set()
    rows = db.rows("lock_deliveries", {**id_ranges.around(asked), "ids": asked})
    return {row["id"] for row in rows}
