"""Insert the rows of new requests: notifications, deliveries, first events, keys and uses of files.

All rows of a list are stored, or none.
"""

from __future__ import annotations

import datetime as dt
from contextlib import nullcontext
from functools import partial

import psycopg
from django.db import IntegrityError, connection, transaction

from notifications.core.intake import attachments
from notifications.core.intake.idempotency_keys import KeyResolution
from notifications.core.intake.plan import ordering_places
from notifications.core.store.postgres import idempotency, inserts, ordering_queues, partitions


def insert(found: KeyResolution, *, now: dt.datetime, patience: dt.timedelta | None) -> bool:
    """Insert new rows and keys; returns False if another request has inserted one of the keys.

    Args:
        found: the new requests.
        now: the present; the rows belong to its day.
        patience: limit of the wait for a key that another request inserts; None: the session's.

    Raises:
        attachments.FilesGone: files or recipients were deleted after the checks.
        IntegrityError: retention dropped the day's partition, so the clock is wrong.
        OperationalError: the database failed, or a key was locked for too long.
    """
    try:
        partitions.with_day(now.date(), partial(_insert, found, now=now, patience=patience))
    except IntegrityError as error:
        if not isinstance(error.__cause__, psycopg.errors.UniqueViolation):
            raise
        return False
    return True


def _insert(found: KeyResolution, *, now: dt.datetime, patience: dt.timedelta | None) -> None:
    new_plans, places = found.new_plans, ordering_places(found.new_plans)
    # An open transaction needs a savepoint to survive a duplicate key.
    files = {each for plan in new_plans for each in plan.files}
    needs_block = places or files or connection.in_atomic_block
    with transaction.atomic() if needs_block else nullcontext():
        attachments.link(files)
        inserts.deliveries(
            [delivery for plan in new_plans for delivery in plan.deliveries],
            notification_ids=[plan.id for plan in new_plans for _ in plan.deliveries],
            now=now,
            notifications=[plan.row for plan in new_plans],
            keys=idempotency.rows(found.entries, now=now),
            patience=patience if found.entries else None,  # only keys can be locked
        )
        if places:
            ordering_queues.join(places)
