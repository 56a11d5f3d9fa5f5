"""Work of sweeps: one statement asks for several sweeps if they have something to do.

Whenever a sweep would change a row, its condition (`Work`) is true; a condition may also be true
without such a row. A due delivery of an older day is work for each sweep over deliveries.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, LiteralString, cast

from django.db import OperationalError, connection

from notifications.core import clock
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db, id_ranges
from notifications.core.store.postgres.arrays import bound

_IS_READ_ONLY: Final = "SELECT '' AS sweep WHERE current_setting('transaction_read_only') = 'on'"
_IS_UNDONE: Final = (
    "SELECT name AS sweep FROM notifications_sweeprun"
    " WHERE name = ANY(%(names)s::text[]) AND (failed > 0 OR running_since IS NOT NULL)"
)


@dataclass(frozen=True, slots=True)
class Work:
    """The condition under which a sweep has work: due deliveries, or an expression of SQL."""

    due: tuple[tuple[Status, dt.timedelta], ...] = ()
    """Statuses whose deliveries are due before now plus a time."""
    sql: str = ""
    """Name of a file of `sql/` with an expression; its parameters are `now`, for a sweep that uses
    the clock of the host, and `floor` and `ceiling` of the recent days."""


def with_work(conditions: Mapping[str, Work]) -> set[str]:
    """Return the sweeps with work, of conditions by sweep name.

    A sweep whose last run failed or has not ended counts as a sweep with work, so that the next run
    resolves its alert.

    Raises:
        OperationalError: the database is away, or takes no writes and may be out of date.
    """
    recent, *older = id_ranges.current()
    due = [
        (name, status, within) for name, work in conditions.items() for status, within in work.due
    ]
    files = tuple((name, work.sql) for name, work in conditions.items() if work.sql)
    parameters = {
        **id_ranges.LANE_COLUMNS,
        **recent,
        "now": clock.now(),
        "names": list(conditions),
        "sweeps": [name for name, _, _ in due],
        "statuses": [int(status) for _, status, _ in due],
        "within_seconds": [within.total_seconds() for _, _, within in due],
    }
    with db.cursor() as running:
        running.execute(_statement(files, has_due=bool(due)), bound(parameters))
        found = {row["sweep"] for row in running.fetchall()}
    if "" in found:
        connection.close()  # a standby keeps the sessions of the former primary
        raise OperationalError("the server is read-only")
    return found | ({name for name, _, _ in due} if older else set())


@functools.lru_cache(maxsize=256)
def _statement(files: tuple[tuple[str, str], ...], *, has_due: bool) -> LiteralString:
    parts = [_IS_READ_ONLY, _IS_UNDONE]
    if has_due:
        parts.append(db.statement("work_due_rows"))
    # Names of sweeps of the program: nobody's input can reach them.
    parts += [f"SELECT '{name}' WHERE {db.statement(file)}" for name, file in files]
    text = "\nUNION ALL\n".join(parts)
    return cast("LiteralString", text)  # type: ignore[redundant-cast]  # mypy: str, psycopg: not
