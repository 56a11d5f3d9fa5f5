"""The two loops of sweeps over rows without a lane: batches of one kind, and objects in turn.

A loop ends when no row is left, or by time. A batch locks its rows or moves their due time, so
several processes share the rows, and the next run takes the rest. The rows of lanes have the loop
of `rounds`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import TypeVar

from notifications.core import clock
from notifications.core.store.postgres import db
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept

_Object = TypeVar("_Object")


def repeat(batch: Callable[[], Swept], *, ends_at: float | None = None) -> Swept:
    """Run batches until a batch leaves no rows (`Swept.more`), or until `ends_at`.

    Args:
        batch: processes rows, at least once.
        ends_at: on the monotonic clock; None: `rounds.deadline()`.
    """
    ends_at = rounds.deadline() if ends_at is None else ends_at
    done = Swept()
    while True:
        swept = batch()
        done += Swept(swept.moved, swept.failed)
        if not swept.more or clock.monotonic() >= ends_at:
            return done + Swept(more=swept.more)


def in_turn(
    objects: Iterable[_Object],
    batch: Callable[[_Object], Swept],
    *,
    on_error: Callable[[_Object, Exception], None],
    ends_at: float | None = None,
    at_once: int | None = None,
) -> Swept:
    """Run a batch of each object in turn, so that a large job does not block a small job.

    An object leaves the turns when its batch leaves no rows (`Swept.more`). An object with an
    exception, such as a lock timeout, leaves them too and counts as failed: the next run tries it
    again. The next object takes its place.

    Args:
        objects: for example the open jobs, oldest first.
        batch: processes rows of an object.
        on_error: logs the exception of an object, inside the handler of the exception.
        ends_at: on the monotonic clock; None: `rounds.deadline()`. An object in turn gets a batch.
        at_once: number of objects in turn; None: all.

    Raises:
        DATABASE_TROUBLE: the database is away; the next run goes on.
    """
    ends_at = rounds.deadline() if ends_at is None else ends_at
    done, waiting = Swept(), iter(objects)
    left = list(itertools.islice(waiting, at_once))
    while left:
        for each in tuple(left):
            try:
                swept = batch(each)
            except Exception as error:  # whatever an object causes, it must not stop the others
                if isinstance(error, rounds.DATABASE_TROUBLE) and not db.is_undone(error):
                    raise
                on_error(each, error)
                swept = Swept(failed=1)
            done += Swept(swept.moved, swept.failed)
            if not swept.more:
                left.remove(each)
        if clock.monotonic() >= ends_at:
            left += itertools.islice(waiting, 1)
            return done + Swept(more=bool(left))
        left += itertools.islice(waiting, at_once and at_once - len(left))
    return done
