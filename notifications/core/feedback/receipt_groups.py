"""Receipt groups: concurrent callbacks with receipts share a transaction.

Each callback is safe to run again: the transition table ignores a receipt without an effect.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from django.db import Error, transaction

from notifications.core.intake.group_commit import Finished, GroupCommit, NothingStored
from notifications.core.store.postgres import db

Callback = TypeVar("Callback")
_PATIENCE: Final = dt.timedelta(milliseconds=200)
"""Lock timeout of a group for a row; then the group's callbacks run alone."""


def receipt_group(
    record: Callable[[Sequence[Callback]], Sequence[int]],
) -> GroupCommit[Callback, int]:
    """Return the group commit of a function that applies the receipts of callbacks.

    Args:
        record: applies the receipts; returns the number of changed deliveries for each callback.
    """

    def run_group(callbacks: Sequence[Callback]) -> Finished[int]:
        if len(callbacks) == 1:
            return [run_alone(callbacks[0])], lambda: None
        try:
            with transaction.atomic():
                db.wait_for_locks(_PATIENCE)
                return record(callbacks), lambda: None
        except Error as error:
            raise NothingStored from error

    def run_alone(callback: Callback) -> int:
        return record([callback])[0]

    return GroupCommit(run_group, run_alone)
