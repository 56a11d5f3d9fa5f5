"""[p0_while_expanding] [p1_while_expanding] P0 and P1 while a bulk job is expanded and sent.

Milliseconds from the producer's POST until the provider has answered the call, the 99th percentile,
compared with the same on an idle stack. The service level of P1 is 10 seconds.
"""

from __future__ import annotations

from statistics import median
from typing import Any, Final

import psycopg

from notifications.core.rules.lane import Mode, Priority
from tests.benchmarks import load, p0_latency
from tests.benchmarks.figures import Figure, Paired, paired
from tests.benchmarks.stage import TEMPLATE, TYPE, WORKING, Stage

_RECIPIENTS: Final = 200_000
_POSTS: Final = 150
_P0_TARGET: Final = 2.0
_P1_TARGET_MS: Final = 10_000
_AUDIENCE: Final = """
    WITH made AS (
        INSERT INTO notifications_recipient (mode, user_id, locale, timezone, phone_timezone,
                                             created_at, updated_at)
        SELECT 1, 'reader-' || n, 'en', 'UTC', '', now(), now() FROM generate_series(1, %s) AS n
        ON CONFLICT DO NOTHING RETURNING id, user_id
    )
    INSERT INTO notifications_contact (recipient_id, channel, address, kind, is_primary,
                                       created_at, invalid_reason)
    SELECT id, 3, user_id || '@b.test', '', true, now(), '' FROM made
"""


def measure_p0(stage: Stage) -> Figure:
    """Measure P0."""
    found, notes = _measure(stage, "P0")
    return Figure(
        name="p0_while_expanding",
        value=found.ours,
        unit="ms p99 of P0 while a bulk job is expanded",
        baseline="ms p99 idle",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {_P0_TARGET:.0f}x",
        met=found.ratio <= _P0_TARGET,
        notes=notes,
    )


def measure_p1(stage: Stage) -> Figure:
    """Measure P1."""
    found, notes = _measure(stage, "P1")
    return Figure(
        name="p1_while_expanding",
        value=found.ours,
        unit="ms p99 of P1 while a bulk job is expanded",
        baseline="ms p99 idle",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {_P1_TARGET_MS:,} ms",
        met=found.ours <= _P1_TARGET_MS,
        notes=notes,
    )


def _measure(stage: Stage, priority: str) -> tuple[Paired, tuple[str, ...]]:
    recipients = stage.size(_RECIPIENTS)
    stage.run((*WORKING, "expand"))
    with stage.database() as link:
        _make_audience(link, recipients)
    p0_latency.percentiles(stage, load.singles(50, priority=priority))
    calm: list[float] = []
    busy: list[float] = []
    made: list[int] = []

    def idle() -> float:
        stage.clear()
        p50, p99 = p0_latency.percentiles(stage, load.singles(_POSTS, priority=priority))
        calm.append(p50)
        return p99

    def expanding() -> float:
        stage.clear()
        job = _create_job()
        p50, p99 = p0_latency.percentiles(stage, load.singles(_POSTS, priority=priority))
        with stage.database() as link:
            [(count,)] = link.execute(
                "SELECT count(*) FROM notification WHERE bulk_job_id = %s", [job]
            ).fetchall()
            link.execute("DELETE FROM bulk_job_range WHERE job_id = %s", [job])
            link.execute("UPDATE bulk_job SET state = 'cancelled' WHERE id = %s", [job])
        made.append(count)
        busy.append(p50)
        stage.clear()
        return p99

    found = paired(ours=expanding, theirs=idle)
    return found, (
        f"p50 while expanding {median(busy):.1f} ms, idle {median(calm):.1f} ms",
        f"messages made during the posts: at least {min(made):,} of {recipients:,}",
    )


def _make_audience(link: psycopg.Connection[Any], count: int) -> None:
    link.execute(_AUDIENCE, [count])
    link.execute("ANALYZE notifications_recipient, notifications_contact")


def _create_job() -> str:
    from notifications.core.intake.validation import Caller  # noqa: PLC0415 - as above
    from notifications.core.models import Producer  # noqa: PLC0415 - as above
    from notifications.features.bulk_jobs import create  # noqa: PLC0415 - its models need Django set up
    from notifications.features.bulk_jobs.rules import request  # noqa: PLC0415 - as above

    producer = Producer.objects.get(name="bench")
    caller = Caller(
        producer_id=producer.pk,
        mode=Mode.LIVE,
        priorities=frozenset(Priority),
        may_send_content=True,
    )
    body = {
        "name": "bench",
        "audience": {"everyone": True},
        "type": TYPE,
        "priority": "P3",
        "template_id": TEMPLATE,
        "variables": {"name": "Ada", "order_id": "ORD-1", "items": ["a", "b"]},
        "channels": ["email"],
    }
    parsed = request.parse(body)
    if not isinstance(parsed, request.BulkJobRequest):
        raise TypeError(parsed)
    return str(create.create(caller, parsed, by="bench").pk)
