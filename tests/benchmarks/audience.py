"""[audience] The time to estimate a three-condition audience over five million recipients.

The rows are made by set-based SQL: attributes of several selectivities, a topic with a fifth of the
recipients, and a notification of the last week for a tenth. The baseline is the exact count of the
same audience by one SELECT. The notes have further audiences, with the true error of each estimate.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from statistics import median
from typing import Any, Final

from notifications.core import clock
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.features.audiences.rules.parse import parse
from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import Stage

_ROWS: Final = 5_000_000
_TRIES: Final = 7
_TARGET_MS: Final = 1_000
_TARGET_ERROR: Final = 0.05
_PRO: Final = {"attribute": "plan", "is": "pro"}
_ADULT: Final = {"attribute": "age", "at_least": 30}
_NO_NEWS: Final = {"not": {"received": {"type": "NEWS", "within_days": 7}}}
_AUDIENCES: Final[Mapping[str, dict[str, Any]]] = {
    "plan, age and no news": {"and": [_PRO, _ADULT, _NO_NEWS]},
    "topic, plan and age": {"and": [{"topic": "bench"}, _PRO, _ADULT]},
    "one in a thousand by an attribute": {
        "and": [{"attribute": "city", "is": "c17"}, _PRO, _ADULT]
    },
    "age alone, one in a hundred": {"attribute": "age", "at_least": 99},
    "everyone": {"everyone": True},
}
_SEED: Final = (
    "TRUNCATE notifications_recipient RESTART IDENTITY CASCADE",
    "DROP INDEX recipient_by_attribute, recipient_by_zone",
    """
    INSERT INTO notifications_recipient
        (mode, user_id, locale, timezone, phone_timezone, attributes, created_at, updated_at)
    SELECT 1, 'user-' || n, 'en', '', '', jsonb_build_object(
               'plan', CASE WHEN random() < 0.2 THEN 'pro' ELSE 'free' END,
               'age', floor(random() * 100)::int, 'city', 'c' || floor(random() * 1000)::int
           ), now(), now()
    FROM generate_series(1, {rows}) n
    """,
    (
        "CREATE INDEX recipient_by_attribute ON notifications_recipient"
        " USING gin (attributes jsonb_path_ops)"
    ),
    (
        "CREATE INDEX recipient_by_zone ON notifications_recipient"
        " (mode, (coalesce(nullif(timezone, ''), phone_timezone)), id)"
    ),
    "TRUNCATE topic_subscriber",
    "DELETE FROM topic",
    "INSERT INTO topic (mode, name, created_at, created_by) VALUES (1, 'bench', now(), 'bench')",
    (
        "INSERT INTO topic_subscriber SELECT t.id, r.id FROM topic t, notifications_recipient r"
        " WHERE r.id %% 5 = 0"
    ),
    """
    INSERT INTO notification (id, producer_id, mode, priority, type, recipient_id, user_id, spread,
                              expires_at, created_at)
    SELECT ('{prefix}' || lpad(to_hex(n), 9, '0') || '000')::uuid, 1, 1, 2, 'NEWS', n * 10,
           'user-' || n * 10, 'first', now(), now()
    FROM generate_series(1, {rows} / 10) n
    """,
    """
    INSERT INTO delivery (id, mode, priority, channel, status, recipient_id)
    SELECT ('{prefix}' || lpad(to_hex(n), 9, '0') || '001')::uuid, 1, 2, 3, {sent}, n * 10
    FROM generate_series(1, {rows} / 10) n
    """,
    "ANALYZE notifications_recipient, topic_subscriber, notification, delivery",
)


def measure(stage: Stage) -> Figure:
    """Measure it."""
    rows = stage.size(_ROWS)
    _fill(stage, rows)
    found = {name: _measure(expression) for name, expression in _AUDIENCES.items()}
    [first, *_] = found.values()
    return Figure(
        name="audience",
        value=first["ms"],
        unit=f"ms, three conditions over {rows:,} recipients",
        baseline="ms, SELECT count(*)",
        baseline_value=first["count_ms"],
        ratio=first["ms"] / first["count_ms"],
        target=f"< {_TARGET_MS} ms, error < {_TARGET_ERROR:.0%}",
        met=first["ms"] < _TARGET_MS and first["error"] < _TARGET_ERROR,
        notes=tuple(
            f"{name}: {each['ms']:.0f} ms (slowest {each['slowest']:.0f}), largest error of"
            f" {_TRIES}: {each['error']:.2%}, {each['count']:,.0f} recipients, counted in"
            f" {each['count_ms']:.0f} ms"
            for name, each in found.items()
        ),
    )


def _fill(stage: Stage, rows: int) -> None:
    """Make the rows; the ids of the notifications are of the first millisecond of today."""
    prefix = ids.floor_of(clock.now().date()).hex[:12] + "70008000"
    with stage.database() as link:
        for each in _SEED:
            link.execute(
                each.format(rows=rows, prefix=prefix, sent=int(Status.SENT)).replace("%%", "%")
            )
        link.execute("VACUUM notifications_recipient, topic_subscriber")


def _measure(expression: dict[str, Any]) -> dict[str, float]:
    """Return times and the largest error of the estimates of an audience."""
    from notifications.features.audiences.rows import estimates  # noqa: PLC0415 - needs Django's settings

    wanted = parse(expression)
    began = time.monotonic()
    exact = estimates.count(wanted, mode=Mode.LIVE)
    count_ms = 1000 * (time.monotonic() - began)
    spent, errors = [], []
    for _ in range(_TRIES):
        began = time.monotonic()
        answer = estimates.estimate(wanted, mode=Mode.LIVE)
        spent.append(1000 * (time.monotonic() - began))
        errors.append(abs(answer.count - exact) / exact)
    return {
        "ms": median(spent),
        "slowest": max(spent),
        "error": max(errors),
        "count": float(exact),
        "count_ms": count_ms,
    }
