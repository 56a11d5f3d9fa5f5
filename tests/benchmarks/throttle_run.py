"""The run of [throttle], imported after Django is set up; see `throttle`."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle
from typing import Final
from unittest import mock

from django.db import OperationalError, connection
from django.db.models import F

from notifications.core import clock
from notifications.core.models import BulkJob, BulkJobRange, Notification, Producer
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.lane import Mode, Priority
from notifications.core.store.templates import template_cache
from notifications.features.bulk_jobs import changes, expand, progress, stages
from notifications.features.bulk_jobs import rows as bulk_rows
from notifications.features.bulk_jobs.rules import pace
from providers.contract import Channel
from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import TEMPLATE, TYPE, Stage

RATE: Final[Mapping[str, int]] = {"rate_per_second": 50}
SPREAD: Final[Mapping[str, int]] = {"spread_seconds": 36_000, "estimate": 5_000_000}
_ACTIVE: Final = 600
_PAUSED: Final = range(300, 420)
_RESTARTED_AT: Final = 200
_STEP: Final = 2
"""Seconds between two runs of the expanders."""
_MINUTE: Final = 60
_TARGET: Final = 0.02
_SECOND: Final = dt.timedelta(seconds=1)
_AHEAD: Final = dt.timedelta(days=1)
"""Distance of the fast clock, so that no row is due during the run: a late lane gets no rows."""


def measure(stage: Stage, name: str, limits: Mapping[str, int]) -> Figure:
    """Measure the rate of a job with `limits`, columns of the job."""
    stage.run(())
    start = clock.now() + _AHEAD
    _clear(stage, start)
    job = _job(start, limits)
    undone = _expand(job, start)
    minutes, ahead = _counts(job, start)
    job.delete()
    _clear(stage, start)
    wanted = (pace.rate(job, ceiling=None) or 0) * _MINUTE
    error = max(abs(count - wanted) for count in minutes) / wanted
    return Figure(
        name=name,
        value=100 * error,
        unit=f"% from the rate in the worst of {len(minutes)} minutes",
        target=f"<= {_TARGET:.0%}",
        met=error <= _TARGET and ahead <= pace.WINDOW + _SECOND,
        notes=(
            f"{min(minutes)} to {max(minutes)} messages a minute, {wanted:.0f} wanted",
            f"{sum(minutes)} messages in all, {wanted * len(minutes):.0f} wanted",
            f"rows exist at most {ahead / _SECOND:.0f} s before their time",
            f"2 expanders, a pause of {len(_PAUSED)} s, a restart, {undone} undone pages",
        ),
    )


def _counts(job: BulkJob, start: dt.datetime) -> tuple[list[int], dt.timedelta]:
    """Return the messages of each minute without the pause, and the longest time before a slot."""
    rows = Notification.objects.filter(bulk_job_id=job.pk)
    times = [
        (due_at or made_at, made_at) for due_at, made_at in rows.values_list(*_COLUMNS).iterator()
    ]
    by_minute = Counter((due_at - start) // (_MINUTE * _SECOND) for due_at, _ in times)
    paused = {each // _MINUTE for each in _PAUSED}
    wanted = range((_ACTIVE + len(_PAUSED)) // _MINUTE)
    minutes = [by_minute[each] for each in wanted if each not in paused]
    return minutes, max(due_at - made_at for due_at, made_at in times)


_COLUMNS: Final = ("scheduled_at", "created_at")


def _clear(stage: Stage, start: dt.datetime) -> None:
    """Empty the partitions of the fast clock's day."""
    with mock.patch.object(clock, "now", return_value=start):
        stage.clear()


def _job(start: dt.datetime, limits: Mapping[str, int]) -> BulkJob:
    """Store a running job with two ranges over all recipients."""
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
        starts_at=start,
        created_at=start,
        created_by="benchmark",
        **limits,
    )
    with mock.patch.object(clock, "now", return_value=start):
        progress.start_due(limit=10)
    BulkJob.objects.filter(pk=job.pk).update(**limits)  # the estimate is not of these recipients
    job.refresh_from_db()
    whole = BulkJobRange.objects.get(job=job)
    middle = (whole.first + whole.until) // 2
    BulkJobRange.objects.create(job=job, number=1, first=middle, cursor=middle, until=whole.until)
    BulkJobRange.objects.filter(pk=whole.pk).update(until=middle)
    return job


def _expand(job: BulkJob, start: dt.datetime) -> int:
    """Run two expanders; returns the number of undone pages."""
    undone = 0
    dies = cycle([False, False, False, True])
    expanders = ThreadPoolExecutor(2)
    for second in range(0, _ACTIVE + len(_PAUSED), _STEP):
        if second == _RESTARTED_AT:
            expanders.shutdown()
            expanders = ThreadPoolExecutor(2)
        if second in {_PAUSED.start, _PAUSED.stop}:
            _pause_or_resume(job, start + second * _SECOND)
        with _at(start + second * _SECOND, dies=next(dies)):
            undone += sum(expanders.map(lambda _: _pages(job), range(2)))
        _rewind(job)
    expanders.shutdown()
    return undone


def _pause_or_resume(job: BulkJob, now: dt.datetime) -> None:
    with mock.patch.object(clock, "now", return_value=now):
        if BulkJob.objects.get(pk=job.pk).state == BulkJobState.PAUSED:
            changes.resume(job.pk, by="benchmark")
        else:
            changes.pause(job.pk, by="benchmark", reason="The benchmark pauses the job.")


def _pages(job: BulkJob) -> int:
    """Expand a page of each range; returns 1 if a page was undone."""
    try:
        for part in stages.open_ranges(job, clock.now()):
            expand.expand_page(part)
    except OperationalError:
        return 1
    finally:
        connection.close()
    return 0


def _rewind(job: BulkJob) -> None:
    """Begin finished ranges again, so that the audience never ends."""
    done = BulkJobRange.objects.filter(job=job).exclude(finished_at=None)
    done.update(cursor=F("first"), finished_at=None)


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
