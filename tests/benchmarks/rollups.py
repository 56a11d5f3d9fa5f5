"""What the roll-ups cost, and how fast they answer.

[rollup_cost] CPU of a delivery in the whole pipeline, as in [pipeline_http], with the sweep
`rollups` and without it. The events that the sweep has not counted when the last delivery is
settled are counted by the benchmark, and their time belongs to the first side.

[analytics_query] 90 days by hour from the roll-ups of 50 million deliveries: 40 notification types
of 10 producers on three channels, ten of them by SMS, to 20 countries. The countries of a producer
are asked for five days, because an answer has at most 10,000 values. The slowest question counts;
the notes have each question.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from notifications.core import clock
from notifications.core.rules.rollups import Dimension, Step
from tests.benchmarks import costs, pipeline
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.stage import Stage

_COUNT: Final = 20_000
_COST_TARGET: Final = 1.03
_QUERY_TARGET: Final = 100
_DAYS: Final = 90
_DAYS_BY_COUNTRY: Final = 5
_REPEATS: Final = 7
_PAGE: Final = 50_000
"""Events of a page, as in the sweep."""
_TASK: Final = "sweep_rollups"

_SERIES: Final = """
    INSERT INTO rollup_series (dimension_set, mode, producer_id, channel, provider, priority, type,
                               template, version, country, reason)
    SELECT DISTINCT s.number, 1, CASE WHEN s.number <> 4 THEN t %% 10 + 1 ELSE 0 END, c.channel,
           CASE WHEN s.number NOT IN (2, 5) THEN c.provider ELSE '' END,
           CASE WHEN s.number NOT IN (2, 5) THEN t %% 3 + 1 ELSE -1 END,
           CASE WHEN s.number IN (2, 3) THEN 'TYPE_' || t ELSE '' END,
           CASE WHEN s.number IN (2, 3) THEN 'template_' || t ELSE '' END,
           CASE WHEN s.number IN (2, 3) THEN 1 ELSE 0 END,
           CASE WHEN s.number = 5 OR (s.number = 3 AND c.channel = 2)
                THEN chr(65 + n) || 'X' ELSE '' END,
           r.reason
    FROM generate_series(1, 40) t
    CROSS JOIN (VALUES (1, 'fcm'), (3, 'ses'), (2, 'twilio')) c(channel, provider)
    CROSS JOIN generate_series(0, 19) n
    CROSS JOIN (VALUES (''), ('permanent')) r(reason)
    CROSS JOIN generate_series(1, 5) s(number)
    WHERE c.channel <> 2 OR t %% 4 = 0
"""
_COUNTS: Final = """
    INSERT INTO rollup (cube, series, bucket, accepted, sent, delivered, calls, cost_micros, failed)
    SELECT 20 + s.dimension_set, s.id, h,
           CASE WHEN reason = '' THEN n END, CASE WHEN reason = '' THEN n END,
           CASE WHEN reason = '' THEN n - 1 END, CASE WHEN reason = '' THEN n END,
           CASE WHEN reason = '' THEN n * 100 END, CASE WHEN reason <> '' THEN n END
    FROM generate_series(%(start)s::timestamptz, %(end)s::timestamptz, '1 hour') h
    CROSS JOIN rollup_series s
    CROSS JOIN LATERAL (
        SELECT (%(deliveries)s / 2160 / count(*))::bigint + 1 AS n
        FROM rollup_series o WHERE o.dimension_set = s.dimension_set AND o.reason = ''
    ) each
    ORDER BY s.dimension_set, h
"""
_LATENCIES: Final = """
    INSERT INTO rollup_latency (cube, series, kind, bucket, sketch)
    SELECT 20 + s.dimension_set, s.id, k, h,
           (SELECT sum((1 + (b + s.id + extract(hour FROM h)::int) %% 7
                        || repeat('0', 12 * b))::numeric)
            FROM generate_series(40 + s.id %% 3, 59 + s.id %% 3) b)
    FROM generate_series(%(start)s::timestamptz, %(end)s::timestamptz, '1 hour') h
    CROSS JOIN rollup_series s
    CROSS JOIN generate_series(1, 3) k
    WHERE s.reason = '' AND s.dimension_set NOT IN (3, 5)
    ORDER BY s.dimension_set, h
"""
_TABLES: Final = "rollup, rollup_latency, rollup_series, rollup_value"


def measure_cost(stage: Stage) -> Figure:
    """Measure rollup_cost."""
    stage.run()
    spent = {name: costs.Meter() for name in ("warm", "with", "without")}

    def microseconds(name: str) -> float:
        before = sum(spent[name].seconds.values())
        pipeline.rate(stage, spent[name], count=_COUNT)
        if name == "with":
            spent[name].add({"the rest of the events": _count_rest(stage)})
        return (sum(spent[name].seconds.values()) - before) / _COUNT * 1e6

    def with_rollups() -> float:
        _switch(stage, is_on=True)
        return microseconds("with")

    def without() -> float:
        _switch(stage, is_on=False)
        return microseconds("without")

    try:
        microseconds("warm")
        found = paired(ours=with_rollups, theirs=without)
    finally:
        _switch(stage, is_on=True)
    return Figure(
        name="rollup_cost",
        value=found.ours,
        unit="us of CPU a delivery with roll-ups",
        baseline="us without",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {_COST_TARGET}x",
        met=found.ratio <= _COST_TARGET,
        notes=tuple(f"{name}: {spent[name].each(PAIRS * _COUNT)}" for name in ("with", "without")),
    )


def _switch(stage: Stage, *, is_on: bool) -> None:
    """Switch the sweep on or off, and wait until beat has read it; skip what is not counted."""
    from django_celery_beat.models import PeriodicTask  # noqa: PLC0415 - after Django is set up

    task = PeriodicTask.objects.get(task=_TASK)
    task.enabled = is_on
    task.save()
    with stage.standing_still():
        _count_rest(stage)
    time.sleep(_BEAT_READS)  # noqa: TID251 - a benchmark waits for beat


_BEAT_READS: Final = 6.0
"""Seconds: the interval of beat and of the sweep."""


def _count_rest(stage: Stage) -> float:
    """Count the remaining events; returns the seconds, at most the CPU of both processes."""
    from notifications.core.store.postgres import rollups  # noqa: PLC0415 - after Django is set up

    with stage.standing_still():
        began = time.perf_counter()
        while rollups.count_next(limit=_PAGE).more:
            pass
        return time.perf_counter() - began


_QUESTIONS: Final[Mapping[str, tuple[str, tuple[str, ...], Mapping[str, int | str]]]] = {
    "sent": ("sent", (), {}),
    "sent by channel": ("sent", ("channel",), {}),
    "sent of a producer": ("sent", (), {"producer": 1}),
    "sent of a producer by channel": ("sent", ("channel",), {"producer": 1}),
    "failed by reason": ("failed", ("reason",), {}),
    "delivery_rate by provider": ("delivery_rate", ("provider",), {}),
    "delivered of a type": ("delivered", (), {"type": "TYPE_4"}),
    "delivered of a template by a provider": (
        "delivered",
        (),
        {"template": "template_4", "provider": "twilio"},
    ),
    "cost of a country": ("cost", (), {"country": "CX"}),
    "delivery_rate by country": ("delivery_rate", ("country",), {"producer": 1}),
    "p95 of accept to delivered": ("accept_to_delivered_p95", (), {}),
    "p95 of a producer": ("accept_to_delivered_p95", (), {"producer": 1}),
    "p95 of a type": ("accept_to_delivered_p95", (), {"type": "TYPE_4"}),
    "p95 of a provider": ("call_to_answer_p95", (), {"provider": "twilio"}),
    "p99 by channel": ("accept_to_call_p99", ("channel",), {}),
}
"""Metric, groups and filters by what the notes call them."""


def measure_query(stage: Stage) -> Figure:
    """Measure analytics_query."""
    deliveries = stage.size(50_000_000)
    _fill(stage, deliveries)
    found = {name: _milliseconds(*parts) for name, parts in _QUESTIONS.items()}
    worst = max(found.values())
    return Figure(
        name="analytics_query",
        value=worst,
        unit=f"ms, 90 days by hour of {deliveries:,} deliveries",
        target=f"<= {_QUERY_TARGET} ms",
        met=worst <= _QUERY_TARGET,
        notes=tuple(f"{name}: {value:.0f} ms" for name, value in found.items()),
    )


def _milliseconds(metric: str, by: Sequence[str], filters: Mapping[str, int | str]) -> float:
    from notifications.core.figures.questions import Question, ask  # noqa: PLC0415 - after set-up

    now = clock.now()
    end = Step.HOUR.floor(now)
    days = _DAYS_BY_COUNTRY if "country" in by else _DAYS
    question = Question(
        metric=metric,
        start=end - dt.timedelta(days=days),
        end=end,
        by=tuple(map(Dimension, by)),
        step=Step.HOUR,
        filters={Dimension(name): value for name, value in filters.items()},
        now=now,
    )
    took = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        assert ask(question).groups
        took.append((time.perf_counter() - began) * 1000)
    return median(took)


def _fill(stage: Stage, deliveries: int) -> None:
    end = Step.HOUR.floor(clock.now())
    interval = {
        "start": end - dt.timedelta(days=_DAYS),
        "end": end - Step.HOUR.length,
        "deliveries": deliveries,
    }
    with stage.database() as link:
        link.execute(f"TRUNCATE {_TABLES}")
        for statement in (_SERIES, _COUNTS, _LATENCIES):
            link.execute(statement, interval)
        link.execute("VACUUM (ANALYZE) rollup, rollup_latency, rollup_series")
