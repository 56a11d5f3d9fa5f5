"""Insert the rows of new requests: notifications, deliveries, first events, keys and uses of files.

All rows of a list are stored, or none.
"""

from __future__ import annotations

import datetime as dt
from contextlib import nullcontext
from functools import partial

import psycopg
from django.db import IntegrityError, OperationalError, connection, transaction

from notifications.core.intake import attachments, held_keys
from notifications.core.intake.idempotency_keys import KeyResolution
from notifications.core.intake.plan import ordering_places
from notifications.core.store.postgres import (
    db_errors,
    idempotency,
    inserts,
    ordering_queues,
    partitions,
)


def insert(found: KeyResolution, *, now: dt.datetime, is_group: bool) -> bool:
    """Insert new rows and keys; returns False if another request has inserted one of the keys.

    A lock of another kind than a key's, such as of a migration, limits a group only: other lists
    then wait for as long as the session allows.

    Args:
        found: the new requests.
        now: the present; the rows belong to its day.
        is_group: the caller repeats each request alone after an error.

    Raises:
        attachments.FilesGone: files or recipients were deleted after the checks.
        IntegrityError: retention dropped the day's partition, so the clock is wrong.
        OperationalError: the database failed, or a key was locked for too long (`held_keys`).
    """
    keys = [entry.key for entry in found.entries]
    patience = held_keys.patience(keys) if keys else None  # only keys can be locked for long
    insert_rows = partial(_insert, found, now=now)
    try:
        try:
            partitions.with_day(now.date(), partial(insert_rows, patience=patience))
        except OperationalError as error:
            if idempotency.is_held(error):
                held_keys.note(keys)
                raise
            if is_group or patience is None or not db_errors.is_lock_timeout(error):
                raise
            partitions.with_day(now.date(), partial(insert_rows, patience=None))
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
            patience=patience,
        )
        if places:
            ordering_queues.join(places)
