"""[history_cost] What a delivery costs with two million old ones in ninety daily partitions.

The whole pipeline as in [pipeline_http], with the old days attached and detached in turn: the same
processes, the same database, with and without a history.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications.rules import ids
from tests.benchmarks import costs, load, pipeline_http
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.stage import Stage

_ROWS: Final = 2_000_000
_DAYS: Final = 90
_COUNT: Final = 12_000
_TARGET: Final = 1.15
_TABLES: Final = {"notification": "id", "delivery": "id", "attempt": "delivery_id"}
_FILL: Final = """
    WITH old AS (
        SELECT lpad(to_hex(%(born)s::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 9, '0') AS id
        FROM generate_series(1, %(rows)s) AS n
    ), noted AS (
        INSERT INTO {notification} (id, producer_id, mode, priority, type, recipient_id, user_id,
                                    spread, expires_at, created_at)
        SELECT (id || '000')::uuid, 1, 1, 2, 'OLD', 1, 'user-0', 'first', now(), now() FROM old
    )
    INSERT INTO {delivery} (id, mode, priority, channel, status, attempts, recipient_id, contact_id,
                            sent_at, provider, provider_message_id)
    SELECT (id || '001')::uuid, 1, 2, 3, 5, 1, 1, 1, now(), 'sandbox', md5(id) FROM old
"""


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    days = _build(stage)
    spent = {"old": costs.Meter(), "empty": costs.Meter()}

    def microseconds(name: str) -> float:
        rate = pipeline_http.rate(stage, spent[name], count=_COUNT)
        return 1e6 / rate

    def with_history() -> float:
        _attach(stage, days)
        return microseconds("old")

    def without() -> float:
        _detach(stage, days)
        return microseconds("empty")

    try:
        without()
        spent["empty"].seconds.clear()
        found = paired(ours=with_history, theirs=without)
    finally:
        _drop(stage, days)
    return Figure(
        name="history_cost",
        value=found.ours,
        unit=f"us a delivery, {_ROWS:,} old in {_DAYS} days",
        baseline="us a delivery, no history",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {_TARGET}x",
        met=found.ratio <= _TARGET,
        notes=tuple(f"{name}: {meter.each(3 * _COUNT)}" for name, meter in spent.items()),
    )
