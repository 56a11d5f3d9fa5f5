"""[history_cost] What a delivery costs with two million old ones in ninety daily partitions.

The whole pipeline as in [pipeline_http], with the old days attached and detached in turn: the same
processes, the same database, with and without a history.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from notifications.core import clock
from notifications.core.rules import ids
from notifications.core.rules.states import Status
from tests.benchmarks import costs, pipeline
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.stage import Stage

_ROWS: Final = 2_000_000
_DAYS: Final = 90
_COUNT: Final = 12_000
_TARGET: Final = 1.15
_TABLES: Final = {"notification": "id", "delivery": "id"}
"""What the hot path looks up by id, and the column that leads each table's partitions."""
_FILL: Final = {
    "notification": """
        INSERT INTO {name} (id, producer_id, mode, priority, type, recipient_id, user_id, variables,
                            spread, expires_at, created_at)
        SELECT ({id} || '000')::uuid, 1, 1, 2, 'OLD', n %% 2000, 'user-' || n %% 2000,
               '{{"name": "Ada", "order_id": "ORD-1"}}', 'first', now(), now()
        FROM generate_series(1, %s) AS n
    """,
    "delivery": """
        INSERT INTO {name} (id, mode, priority, channel, status, attempts, recipient_id, contact_id,
                            sent_at, provider, provider_message_id)
        SELECT ({id} || '001')::uuid, 1, 2, 3, {sent}, 1, n %% 2000, n %% 2000, now(), 'sandbox',
               md5(n::text || '{name}')
        FROM generate_series(1, %s) AS n
    """,
}


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    days, old = old_days(), stage.size(_ROWS)
    build(stage, days, rows=old)
    spent = {name: costs.Meter() for name in ("warm", "old", "empty")}

    def microseconds(name: str) -> float:
        rate = pipeline.rate(stage, spent[name], count=_COUNT)
        return 1e6 / rate

    def with_history() -> float:
        _attach(stage, days)
        return microseconds("old")

    def without() -> float:
        _detach(stage, days)
        return microseconds("empty")

    try:
        microseconds("warm")
        found = paired(ours=with_history, theirs=without)
    finally:
        drop(stage, days)
    return Figure(
        name="history_cost",
        value=found.ours,
        unit=f"us a delivery, {old:,} old in {_DAYS} days",
        baseline="us a delivery, no history",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {_TARGET}x",
        met=found.ratio <= _TARGET,
        notes=tuple(f"{name}: {spent[name].each(PAIRS * _COUNT)}" for name in ("old", "empty")),
    )


def old_days() -> list[dt.date]:
    """Return the days of the history, the newest first."""
    today = clock.now().date()
    # Yesterday has a partition of its own as soon as a stack is a day old.
    return [today - dt.timedelta(days=back) for back in range(2, _DAYS + 2)]


def build(stage: Stage, days: Sequence[dt.date], *, rows: int) -> None:
    """Make the old days beside the tables; unlogged, because each run makes them anew."""
    drop(stage, days)
    with stage.database() as link:
        for table, day in itertools.product(_TABLES, days):
            name, column = _name(table, day), _TABLES[table]
            low, high = _bounds(day)
            link.execute(
                f"CREATE UNLOGGED TABLE {name} (LIKE {table} INCLUDING DEFAULTS,"
                f" CHECK ({column} >= '{low}' AND {column} < '{high}'))"
            )
            # A UUIDv7 of the day's first millisecond, and a number instead of chance.
            first = low.hex[:12] + "70008000"
            fill = _FILL[table].format(
                name=name, id=f"'{first}' || lpad(to_hex(n), 9, '0')", sent=int(Status.SENT)
            )
            link.execute(fill, [rows // _DAYS])
        _attach(stage, days)  # builds the indexes
        link.execute("ANALYZE notification, delivery")


def _attach(stage: Stage, days: Sequence[dt.date]) -> None:
    with stage.database() as link:
        for table, day in itertools.product(_TABLES, days):
            low, high = _bounds(day)
            link.execute(
                f"ALTER TABLE {table} ATTACH PARTITION {_name(table, day)}"
                f" FOR VALUES FROM ('{low}') TO ('{high}')"
            )


def _detach(stage: Stage, days: Sequence[dt.date]) -> None:
    with stage.database() as link:
        for table, day in itertools.product(_TABLES, days):
            link.execute(f"ALTER TABLE {table} DETACH PARTITION {_name(table, day)}")


def drop(stage: Stage, days: Sequence[dt.date]) -> None:
    """Drop the history."""
    with stage.database() as link:
        for table, day in itertools.product(_TABLES, days):
            link.execute(f"DROP TABLE IF EXISTS {_name(table, day)}")


def _name(table: str, day: dt.date) -> str:
    return f"{table}_{day:%Y%m%d}"


def _bounds(day: dt.date) -> tuple[UUID, UUID]:
    return ids.floor_of(day), ids.floor_of(day + dt.timedelta(days=1))
