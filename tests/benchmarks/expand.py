"""The expansion of bulk jobs.

[expand] Recipients of a bulk job for which one expander stores a notification, a delivery and an
event in a second, against a plain loop: for each recipient a transaction with one ORM `create` for
each of the three rows.

[expand_memory] Growth of an expander's peak memory from the first 10,000 recipients to the last.

[expand_growth] Recipients in a second with 10 million rows of today in each table, against 100,000.

[expand_kills] Recipients without exactly one message after 20 kills of two expanders.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from notifications.core import clock
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.problems import Problem
from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.supervisor.process import ROOT
from providers.contract import Channel
from tests import expander_processes
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.stage import TEMPLATE, TYPE, Stage

if TYPE_CHECKING:
    from notifications.core.models import Recipient

_RECIPIENTS: Final = 1_000_000
_ORM: Final = 300
"""Recipients of the plain loop in a pair."""
_FIRST: Final = 10_000
_FEW: Final = 100_000
_MANY: Final = 10_000_000
_EXPANDED: Final = 50_000
"""Recipients of a measurement of expand_growth."""
_SPEED_TARGET: Final = 20
_MEMORY_TARGET: Final = 50
_GROWTH_TARGET: Final = 0.85
_KILLS: Final = 20
_KILL_SPAN: Final = 20
"""A part of this size of the recipients comes between two kills of all expanders, at most."""
_KILLED_PAGE: Final = 1_000
"""Recipients of a page while expanders are killed: kills come at each stage of a page."""
_LATEST: Final = timedelta(minutes=20)
_OLD_ROWS: Final = (
    """
    INSERT INTO notification (id, producer_id, mode, priority, type, recipient_id, user_id,
                              variables, spread, expires_at, created_at)
    SELECT pg_temp.old_id(%(ms)s, n, '000'), 1, 1, 3, 'OLD', n %% 1000000, 'old', '{}', 'first',
           now(), now()
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) n
    """,
    """
    INSERT INTO delivery (id, mode, priority, channel, status, reason, recipient_id, contact_id)
    SELECT pg_temp.old_id(%(ms)s, n, '001'), 1, 3, 3, %(sent)s, '', n %% 1000000, n
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) n
    """,
    """
    INSERT INTO event (notification_id, delivery_id, status, reason, at)
    SELECT pg_temp.old_id(%(ms)s, n, '000'), pg_temp.old_id(%(ms)s, n, '001'), %(sent)s,
           'accepted', now()
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) n
    """,
)
_OLD_ID: Final = """
    CREATE FUNCTION pg_temp.old_id(ms bigint, n bigint, child text) RETURNS uuid LANGUAGE sql AS
    $$ SELECT (lpad(to_hex(ms + n / 100), 12, '0') || '70008' || lpad(to_hex(n), 12, '0')
               || child)::uuid $$
"""


def measure_speed(stage: Stage) -> Figure:
    """Measure expand."""
    count = stage.size(_RECIPIENTS)
    stage.run(())
    stage.clear()
    with people(stage, count):
        job = new_job()
        found = paired(ours=lambda: _expand(job, count // PAIRS - 5_000), theirs=_create_by_orm)
    return Figure(
        name="expand",
        value=found.ours,
        unit=f"recipients/s of {count:,}",
        baseline="with one ORM create each",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {_SPEED_TARGET}x",
        met=found.ratio >= _SPEED_TARGET,
    )


def measure_memory(stage: Stage) -> Figure:
    """Measure expand_memory."""
    count = stage.size(_RECIPIENTS)
    stage.run(())
    stage.clear()
    with people(stage, count):
        job = new_job()
        answer = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.expander", str(job), str(_FIRST)],
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
    first, last = (int(each) / 1024 for each in answer.stdout.split())
    return Figure(
        name="expand_memory",
        value=last - first,
        unit=f"MiB more from {_FIRST:,} to {count:,} recipients",
        target=f"<= {_MEMORY_TARGET} MiB",
        met=last - first <= _MEMORY_TARGET,
        notes=(f"peak of the process: {first:.0f} MiB, then {last:.0f} MiB",),
    )


def measure_growth(stage: Stage) -> Figure:
    """Measure expand_growth; the tables grow once, so the two sides are not interleaved."""
    many = stage.size(_MANY)
    stage.run(())
    stage.clear()
    rates: list[float] = []
    with people(stage, 2 * (PAIRS + 1) * (_EXPANDED + 5_000)):
        job = new_job()
        begin = 1
        for rows in (_FEW, many):
            _grow(stage, first=begin, last=rows)
            begin = rows + 1
            _expand(job, _EXPANDED)
            rates.append(median(_expand(job, _EXPANDED) for _ in range(PAIRS)))
    few, full = rates
    return Figure(
        name="expand_growth",
        value=full,
        unit=f"recipients/s at {many:,} rows",
        baseline=f"at {_FEW:,} rows",
        baseline_value=few,
        ratio=full / few,
        target=f">= {_GROWTH_TARGET}x",
        met=full / few >= _GROWTH_TARGET,
    )


def measure_kills(stage: Stage) -> Figure:
    """Measure expand_kills."""
    from notifications.core.models import Recipient  # noqa: PLC0415 - after Django is set up

    count = stage.size(_RECIPIENTS)
    stage.run(())
    stage.clear()
    began = time.perf_counter()
    with (
        people(stage, count),
        expander_processes.expanders(
            database_url=os.environ["DATABASE_URL"], page=_KILLED_PAGE
        ) as processes,
    ):
        job = new_job()
        count = Recipient.objects.filter(mode=Mode.LIVE).count()
        processes.kill_often(job, _KILLS, recipients=count // _KILL_SPAN)
        at_kill = expander_processes.accepted(job)
        processes.start()
        until(lambda: is_finished(job), what="the job is finished", within=_LATEST)
        seconds = time.perf_counter() - began
        found = expander_processes.counts(job)
    wrong = max(abs(each - count) for each in found)
    return Figure(
        name="expand_kills",
        value=wrong,
        unit=f"of {count:,} recipients without exactly one message",
        target="0",
        met=wrong == 0,
        notes=(
            f"{_KILLS} kills in the first {at_kill:,} messages, {seconds:.0f} s in all",
            f"deliveries, their recipients and ids, notifications, events: {found}",
        ),
    )


def is_finished(job_id: UUID) -> bool:
    """Return True if a bulk job is finished."""
    from notifications.core.models import BulkJob  # noqa: PLC0415 - after Django is set up
    from notifications.core.rules.bulk_job import BulkJobState  # noqa: PLC0415 - as above

    return BulkJob.objects.get(id=job_id).state == BulkJobState.FINISHED


@contextmanager
def people(stage: Stage, count: int) -> Iterator[None]:
    """Add recipients with a mailbox each."""
    with stage.database() as link:
        link.execute(expander_processes.PEOPLE, [count])
        link.execute("VACUUM (ANALYZE) notifications_recipient, notifications_contact")
        try:
            yield
        finally:
            link.execute(
                "DELETE FROM notifications_contact c USING notifications_recipient r"
                " WHERE r.id = c.recipient_id AND r.user_id LIKE 'bulk-%'"
            )
            link.execute("DELETE FROM notifications_recipient WHERE user_id LIKE 'bulk-%'")
            link.execute("TRUNCATE bulk_job CASCADE")
            stage.clear()


def _grow(stage: Stage, *, first: int, last: int) -> None:
    """Add rows of today, and let Postgres write them out before the measurement."""
    midnight = ids.milliseconds(ids.floor_of(clock.now().date()))
    numbers = {"ms": midnight, "first": first, "last": last, "sent": int(Status.SENT)}
    with stage.database() as link:
        link.execute(_OLD_ID)
        for statement in _OLD_ROWS:
            link.execute(statement, numbers)
        link.execute("VACUUM (ANALYZE) notification, delivery, event")
        link.execute("CHECKPOINT")


def new_job() -> UUID:
    """Start a bulk job for all recipients; returns its id."""
    from notifications.core.intake.accept import Caller  # noqa: PLC0415 - as above
    from notifications.core.models import Producer  # noqa: PLC0415 - as above
    from notifications.features.bulk_jobs import create, progress  # noqa: PLC0415 - after Django is set up
    from notifications.features.bulk_jobs.rules import request as requests  # noqa: PLC0415 - as above

    request = requests.parse({
        "name": "Benchmark",
        "audience": {"everyone": True},
        "type": TYPE,
        "priority": "P3",
        "template_id": TEMPLATE,
        "variables": {"name": "Ada", "order_id": "ORD-1", "items": ["a", "b"]},
        "channels": ["email"],
    })
    assert not isinstance(request, Problem)
    caller = Caller(
        producer_id=Producer.objects.values_list("pk", flat=True)[0],
        mode=Mode.LIVE,
        priorities=frozenset(Priority),
        may_send_content=True,
    )
    job = create.create(caller, request, by="bench")
    progress.start_due(limit=10)
    expander_processes.allow_all(job.pk)
    return job.pk


def _expand(job_id: UUID, count: int) -> float:
    """Expand at least so many recipients; returns recipients in a second."""
    from notifications.core.models import BulkJob  # noqa: PLC0415 - as above
    from notifications.features.bulk_jobs import expand, stages  # noqa: PLC0415 - after Django is set up

    job = BulkJob.objects.get(id=job_id)
    began, accepted = time.perf_counter(), 0
    while accepted < count:
        [part, *_] = stages.open_ranges(job, clock.now())
        accepted += expand.expand_page(part).accepted
    return accepted / (time.perf_counter() - began)


def _create_by_orm() -> float:
    """Create three rows for each of some recipients, as plain code would; returns the rate."""
    from notifications.core.models import Recipient  # noqa: PLC0415 - after Django is set up

    people: Any = Recipient.objects.filter(user_id__startswith="bulk-").order_by("id")[:_ORM]
    now = clock.now()
    began = time.perf_counter()
    for number, person in enumerate(people, start=1):
        _create_three(person, now, seq=-number - int(began * 1000) * 10_000)
    return _ORM / (time.perf_counter() - began)


def _create_three(person: Recipient, now: datetime, *, seq: int) -> None:
    """Create a notification, a delivery and an event in a transaction."""
    from django.db import transaction  # noqa: PLC0415 - after Django is set up

    from notifications.core.models import Delivery, Event, Notification  # noqa: PLC0415 - as above

    with transaction.atomic():
        notification = Notification.objects.create(
            id=clock.new_notification_id(),
            producer_id=1,
            mode=Mode.LIVE,
            priority=Priority.P3,
            type=TYPE,
            recipient_id=person.pk,
            user_id=person.user_id,
            variables={"name": "Ada", "order_id": "ORD-1", "items": ["a", "b"]},
            channels=[Channel.EMAIL],
            spread="first",
            expires_at=now,
            created_at=now,
        )
        delivery = Delivery.objects.create(
            id=ids.delivery_id(notification.id, 1),
            mode=Mode.LIVE,
            priority=Priority.P3,
            channel=Channel.EMAIL,
            status=Status.QUEUED,
            due_at=now,
            recipient_id=person.pk,
            contact_id=person.pk,
        )
        Event.objects.create(
            notification_id=notification.id,
            seq=seq,
            delivery_id=delivery.id,
            status=Status.QUEUED,
            reason="accepted",
            at=now,
        )
