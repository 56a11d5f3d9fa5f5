"""The run of [throttle], imported after Django is set up; see `throttle`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle
from typing import Final
from unittest import mock

from django.db import OperationalError, connection

from notifications import clock
from notifications.bulk_jobs import expand, progress, ranges
from notifications.models import BulkJob, Notification, Producer
from notifications.rules.bulk_jobs.states import BulkJobState
from notifications.rules.lane import Mode, Priority
from notifications.store.postgres import bulk_rows
from notifications.store.templates import template_cache
from providers.contract import Channel
from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import TEMPLATE, TYPE, Stage

_RATE: Final = 3.0
"""Messages per second: ten minutes need fewer recipients than the stage has."""
_ACTIVE: Final = 600
_PAUSED: Final = range(300, 420)
_RESTARTED_AT: Final = 200
_MINUTE: Final = 60
_TARGET: Final = 0.02
_SECOND: Final = dt.timedelta(seconds=1)


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run(())
    stage.clear()
    start = clock.now()
    job = _job(start)
    undone = _expand(job, start)
    due = Notification.objects.filter(bulk_job_id=job.pk).values_list("scheduled_at", "created_at")
    seconds = [((due_at or made_at) - start) / _SECOND for due_at, made_at in due]
    minutes = [
        sum(begin <= each < begin + _MINUTE for each in seconds)
        for begin in range(0, _ACTIVE + len(_PAUSED), _MINUTE)
        if begin not in _PAUSED
    ]
    job.delete()
    stage.clear()
    wanted = _RATE * _ACTIVE
    error = abs(sum(minutes) - wanted) / wanted
    return Figure(
        name="throttle",
        value=100 * error,
        unit=f"% from the rate over {_ACTIVE // _MINUTE} min",
        target=f"<= {_TARGET:.0%}",
        met=error <= _TARGET,
        notes=(
            f"{min(minutes)} to {max(minutes)} messages a minute, {_RATE * _MINUTE:.0f} wanted",
            f"2 expanders, a pause of {len(_PAUSED)} s, a restart, {undone} undone pages",
        ),
    )


def _job(start: dt.datetime) -> BulkJob:
    template = template_cache.by_name({TEMPLATE})[TEMPLATE]
    job = BulkJob.objects.create(
        producer=Producer.objects.order_by("id")[0],
        mode=Mode.LIVE,
        name="throttle",
        audience={"everyone": True},
        type=TYPE,
        priority=Priority.P3,
        template_id=TEMPLATE,
        template=template.id,
        variables={"name": "Ada", "order_id": "1", "items": ["a", "b"]},
        channels=[Channel.PUSH],
        spread="first",
        rate_per_second=_RATE,
        starts_at=start,
        created_at=start,
        created_by="benchmark",
    )
    progress.start_due(limit=10)
    return job


def _expand(job: BulkJob, start: dt.datetime) -> int:
    """Run two expanders second by second; returns the number of undone pages."""
    undone = 0
    dies = cycle([False, False, False, True])
    expanders = ThreadPoolExecutor(2)
    for second in range(_ACTIVE + len(_PAUSED)):
        if second == _RESTARTED_AT:
            expanders.shutdown()
            expanders = ThreadPoolExecutor(2)
        if second in {_PAUSED.start, _PAUSED.stop}:
            state = BulkJobState.PAUSED if second in _PAUSED else BulkJobState.RUNNING
            BulkJob.objects.filter(pk=job.pk).update(state=state)
        with _at(start + second * _SECOND, dies=next(dies)):
            found = list(expanders.map(lambda _: _page(job), range(2)))
        undone += sum(found)
    expanders.shutdown()
    return undone


def _page(job: BulkJob) -> int:
    """Expand a page of each range; returns 1 if a page was undone."""
    try:
        for part in ranges.expandable(job, now=clock.now()):
            expand.expand_page(part)
    except OperationalError:
        return 1
    finally:
        connection.close()
    return 0


@contextmanager
def _at(now: dt.datetime, *, dies: bool) -> Iterator[None]:
    """Set the clock of the expanders; pages of a dying expander are undone after their rows."""
    insert = bulk_rows.insert

    def die(*arguments: object, **named: object) -> None:
        insert(*arguments, **named)  # type: ignore[arg-type]  # as given
        raise OperationalError("the expander was killed")

    with mock.patch.object(clock, "now", return_value=now):
        if not dies:
            yield
            return
        with mock.patch.object(bulk_rows, "insert", die):
            yield
