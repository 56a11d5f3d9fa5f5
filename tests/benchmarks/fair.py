"""[fair] A small producer's P3 while a million rows of another producer wait in the same lane.

The provider answers after 100 ms. Compared are the p99 of the milliseconds from a POST of the small
producer until its call starts, with the other producer's rows waiting and without.

The rows of the large producer are written directly, with the places in the queue that the fair
queue would give them: one microsecond apart.
"""

from __future__ import annotations

import time
from statistics import median
from threading import Event
from typing import Any, Final

import psycopg

from notifications.core import clock
from notifications.core.rules import ids
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from providers.contract import Channel
from tests.benchmarks import load, slow_provider
from tests.benchmarks.figures import Figure, Paired, paired
from tests.benchmarks.stage import TEMPLATE, TYPE, Stage

_WAITS_MS: Final = (100, 100)
_FLOOD: Final = 1_000_000
_POSTS: Final = 150
_PACE_SECONDS: Final = 0.1
_POLL_SECONDS: Final = 0.1
_ANY_CLAIMED: Final = "SELECT 1 FROM delivery WHERE claim_token IS NOT NULL LIMIT 1"
_pause: Final = Event()
_PEOPLE: Final = """
    CREATE TEMPORARY TABLE phones AS
    SELECT row_number() OVER (ORDER BY r.id) - 1 AS place, r.id AS recipient, r.user_id,
           c.id AS contact
    FROM notifications_recipient r JOIN notifications_contact c ON c.recipient_id = r.id
    WHERE c.kind = 'fcm_token'
"""
_PRODUCER: Final = """
    INSERT INTO notifications_producer
    SELECT (jsonb_populate_record(p, jsonb_build_object('id', -7, 'name', 'large'))).*
    FROM notifications_producer p WHERE p.name = 'bench'
    ON CONFLICT DO NOTHING
"""
_NOTIFICATIONS: Final = """
    INSERT INTO notification (id, producer_id, mode, priority, type, recipient_id, user_id,
                              template, variables, channels, spread, expires_at, created_at)
    SELECT (%(first)s || lpad(to_hex(n), 9, '0') || '000')::uuid, -7, 1, %(priority)s, %(type)s,
           p.recipient, p.user_id,
           (SELECT id FROM notifications_template WHERE template_id = %(template)s LIMIT 1),
           '{"name": "Ada", "order_id": "ORD-1", "items": ["a", "b"]}',
           ARRAY[%(channel)s]::smallint[], 'first', now() + interval '1 day', now()
    FROM generate_series(1, %(count)s) AS n
    JOIN phones p ON p.place = n %% (SELECT count(*) FROM phones)
"""
_DELIVERIES: Final = """
    INSERT INTO delivery (id, mode, priority, channel, status, reason, recipient_id, contact_id,
                          due_at)
    SELECT (%(first)s || lpad(to_hex(n), 9, '0') || '001')::uuid, 1, %(priority)s, %(channel)s,
           %(status)s, '', p.recipient, p.contact, now() + n * interval '1 microsecond'
    FROM generate_series(1, %(count)s) AS n
    JOIN phones p ON p.place = n %% (SELECT count(*) FROM phones)
"""


def measure(stage: Stage) -> Figure:
    """Measure it."""
    flood = stage.size(_FLOOD)
    stage.run()
    calm: list[float] = []
    busy: list[float] = []
    waiting: list[int] = []
    with slow_provider.slow_fcm(stage) as sink:
        sink.wait_for(*_WAITS_MS)
        _until_called(stage)

        def alone() -> float:
            stage.clear()
            p50, p99 = _until_called(stage)
            calm.append(p50)
            return p99

        def beside() -> float:
            stage.clear()
            with stage.standing_still("channels", "ops"), stage.database() as link:
                _write(link, flood)
            _wait_for_claim(stage)
            p50, p99 = _until_called(stage)
            waiting.append(load.unsent(stage, priority=Priority.P3))
            stage.clear()
            busy.append(p50)
            return p99

        found = paired(ours=beside, theirs=alone)
    notes = (
        f"p50 beside {median(busy):.0f} ms, alone {median(calm):.0f} ms",
        f"rows still waiting after the last post: at least {min(waiting):,}",
    )
    return _figure(found, flood, notes)


def _figure(found: Paired, flood: int, notes: tuple[str, ...]) -> Figure:
    return Figure(
        name="fair",
        value=found.ours,
        unit=f"ms p99 beside {flood:,} rows of another producer",
        baseline="ms p99 alone",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target="<= 2x",
        met=found.ratio <= 2,
        notes=notes,
    )


def _write(link: psycopg.Connection[Any], count: int) -> None:
    values = {
        "first": ids.floor_of(clock.now().date()).hex[:12] + "70008000",
        "count": count,
        "priority": Priority.P3,
        "channel": Channel.PUSH,
        "type": TYPE,
        "template": TEMPLATE,
        "status": Status.QUEUED,
    }
    link.execute("DROP TABLE IF EXISTS phones")
    link.execute(_PEOPLE)
    link.execute(_PRODUCER)
    link.execute(_NOTIFICATIONS, values)
    link.execute(_DELIVERIES, values)
    link.execute("ANALYZE notification, delivery")


def _wait_for_claim(stage: Stage) -> None:
    """Return when a worker has claimed rows: the lane then has a place that was reached."""
    with stage.database() as link:
        while not link.execute(_ANY_CLAIMED).fetchone():
            _pause.wait(_POLL_SECONDS)


def _until_called(stage: Stage) -> tuple[float, float]:
    """Post P3 at a steady pace; returns percentiles 50 and 99 of the ms until their calls start."""
    posted: list[float] = []
    delivery_ids: list[str] = []
    link = load.connection(stage)
    begin = time.perf_counter()
    for number, body in enumerate(load.singles(_POSTS, priority="P3", channel="push")):
        _pause.wait(max(0.0, begin + number * _PACE_SECONDS - time.perf_counter()))
        posted.append(time.time())  # noqa: TID251 - compared with Postgres's clock on this machine
        delivery_ids.append(load.post_one(stage, link, body))
    called = load.called_at(stage, delivery_ids)
    took = sorted((then - at) * 1000 for at, then in zip(posted, called, strict=True))
    return took[len(took) // 2], took[len(took) * 99 // 100]
