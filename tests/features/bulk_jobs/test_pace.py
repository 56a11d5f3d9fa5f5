"""The pace of a job: exact over several expanders, kills and pauses, and shared lanes."""

from __future__ import annotations

import datetime as dt
import itertools
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.db import connection, transaction

from notifications.core import conf
from notifications.core.models import BulkJob, BulkJobPace, BulkJobRange, BulkLane
from notifications.core.rules.bulk_job import BulkJobState
from notifications.features.bulk_jobs import figures, lane_shares, pace
from notifications.features.bulk_jobs.rules import pace as rules
from notifications.features.bulk_jobs.rules.pace import RATED_WINDOW
from tests.features.bulk_jobs.conftest import NewJob

_SECOND = dt.timedelta(seconds=1)
_START = dt.datetime(2026, 3, 28, 23, 55, tzinfo=dt.UTC)
_END_ID = 1_000_000_000


@pytest.fixture(autouse=True)
def wide_lanes() -> None:
    """Keep the windows of lanes as they are: the tests are about the windows."""


class _Killed(Exception):
    """The expander dies before the commit of its page."""


def _ranges(job: BulkJob, count: int) -> None:
    BulkJobRange.objects.filter(job=job).delete()
    BulkJobRange.objects.bulk_create([
        BulkJobRange(job=job, number=n, first=0, cursor=0, until=_END_ID) for n in range(count)
    ])


def _page(range_id: int, now: dt.datetime, *, dies: bool = False) -> list[dt.datetime]:
    """Expand a page as `expand` does, without recipients; returns the due times."""
    pace.prepare(BulkJob.objects.get(ranges=range_id), now)
    with transaction.atomic():
        found = BulkJobRange.objects.select_for_update(skip_locked=True, of=("self",))
        part = found.filter(id=range_id).select_related("job").first()
        if part is None:
            return []
        count = min(5_000, pace.allowance(part.job, part, now))
        if count <= 0:
            return []
        times = pace.due_times(part.job, count, now, examined=count)
        BulkJobRange.objects.filter(id=range_id).update(accepted=part.accepted + count)
        if dies:
            raise _Killed
        return times


def _ids(job: BulkJob) -> list[int]:
    return list(
        BulkJobRange.objects.filter(job=job).order_by("number").values_list("id", flat=True)
    )


def _run(
    job: BulkJob, *, seconds: int, start: dt.datetime = _START, every: int = 1
) -> list[dt.datetime]:
    """Return the due times of all pages of an expander that runs every second, or less often."""
    times = []
    for second in range(0, seconds, every):
        for each in _ids(job):
            times += _page(each, start + second * _SECOND)
    return sorted(times)


def _within(times: list[dt.datetime], begin: dt.datetime, seconds: float) -> int:
    return sum(begin <= time < begin + seconds * _SECOND for time in times)


@pytest.mark.django_db
@pytest.mark.parametrize("rate", [5 / 60, 7, 250])
def test_a_job_gets_as_many_slots_as_its_rate_in_ten_minutes(new_job: NewJob, rate: float) -> None:
    job = new_job(rate_per_second=rate)
    _ranges(job, 3)
    times = _run(job, seconds=600, every=9)
    assert _within(times, _START, 600) == pytest.approx(600 * rate, rel=0.005, abs=1)
    assert times[-1] < _START + 600 * _SECOND + rules.WINDOW
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert max(gaps) <= dt.timedelta(seconds=1 / rate) * 1.01
    assert min(gaps) >= dt.timedelta(seconds=1 / rate) * 0.99


@pytest.mark.django_db
def test_a_spread_job_uses_its_whole_time(new_job: NewJob) -> None:
    job = new_job(spread_seconds=36_000)
    BulkJob.objects.filter(pk=job.pk).update(estimate=5_000_000)
    _ranges(job, 2)
    times = _run(job, seconds=120, every=9)
    assert _within(times, _START, 120) == pytest.approx(120 * 500_000 / 3_600, rel=0.005)


@pytest.mark.django_db
def test_the_rate_goes_on_after_a_pause_without_a_burst(new_job: NewJob) -> None:
    job = new_job(rate_per_second=100)
    _ranges(job, 1)
    before = _run(job, seconds=60)
    resumed = _START + 3_600 * _SECOND
    after = _run(job, seconds=60, start=resumed)
    assert after[0] >= resumed - rules.BURST
    assert after[0] > before[-1]
    assert _within(after, resumed - rules.BURST, 60) == pytest.approx(60 * 100, rel=0.01)


@pytest.mark.django_db
def test_a_killed_page_loses_no_slot_and_repeats_none(new_job: NewJob) -> None:
    job = new_job(rate_per_second=40)
    _ranges(job, 2)
    dies = itertools.cycle([True, False, True, True, False])
    times: list[dt.datetime] = []
    for second in range(0, 120, 2):
        for each in _ids(job):
            try:
                times += _page(each, _START + second * _SECOND, dies=next(dies))
            except _Killed:
                continue
    times.sort()
    steps = [round((time - times[0]) / _SECOND * 40) for time in times]
    assert steps == list(range(len(times)))
    assert len(steps) >= 120 * 40


@pytest.mark.django_db(transaction=True)
def test_two_expanders_at_once_take_different_slots(new_job: NewJob) -> None:
    job = new_job(rate_per_second=500)
    _ranges(job, 4)
    times: list[dt.datetime] = []
    together = threading.Barrier(2)

    def expander() -> None:
        try:
            for second in range(0, 90, 10):
                together.wait(60)
                for each in _ids(job):
                    times.extend(_page(each, _START + second * _SECOND))
        finally:
            connection.close()

    threads = [threading.Thread(target=expander) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    times.sort()
    steps = [round((time - _START) / _SECOND * 500) for time in times]
    assert steps == list(range(len(times)))
    assert times[-1] <= _START + 80 * _SECOND + 2 * rules.WINDOW


@pytest.fixture
def leaves(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Replace the count of waiting rows by a number that the test sets."""
    waiting = [0]
    monkeypatch.setattr(lane_shares, "_waiting", lambda _: (waiting[0], dt.timedelta(0)))

    def set_to(count: int) -> None:
        waiting[0] = count

    return set_to


def _created(job: BulkJob) -> int:
    return lane_shares._message_counts([job.pk]).get(job.pk, 0)


@pytest.mark.django_db
def test_jobs_of_a_lane_share_what_leaves_by_weight(
    new_job: NewJob, leaves: Callable[[int], None]
) -> None:
    jobs = [new_job(weight=1), new_job(weight=3)]
    for job in jobs:
        _ranges(job, 3)
    sent = 0
    for second in range(60):
        now = _START + second * _SECOND
        for job in jobs:
            for each in _ids(job):
                _page(each, now)
        created = sum(_created(job) for job in jobs)
        sent = min(created, sent + 1_000)  # 1,000 rows a second leave
        leaves(created - sent)
    light, heavy = (_created(job) for job in jobs)
    assert heavy / light == pytest.approx(3, rel=0.05)
    assert light + heavy >= 50_000


@pytest.mark.django_db
def test_a_lane_that_is_late_gets_no_rows_of_a_rated_job(
    new_job: NewJob, leaves: Callable[[int], None]
) -> None:
    job = new_job(rate_per_second=100)
    _ranges(job, 1)
    leaves(5_000)
    assert _run(job, seconds=10) == []
    leaves(0)
    times = _run(job, seconds=1, start=_START + 20 * _SECOND)
    assert len(times) == 100 * RATED_WINDOW / _SECOND


@pytest.mark.django_db
def test_a_job_without_an_open_range_blocks_no_share(
    new_job: NewJob, leaves: Callable[[int], None]
) -> None:
    waits, goes = new_job(weight=100), new_job(weight=1)
    for job in (waits, goes):
        _ranges(job, 1)
    BulkJobRange.objects.filter(job=waits).update(starts_at=_START + 3_600 * _SECOND)
    leaves(0)
    assert len(_run(goes, seconds=12)) >= 25_000


@pytest.mark.django_db
def test_a_paused_job_takes_no_share(new_job: NewJob, leaves: Callable[[int], None]) -> None:
    paused, goes = new_job(weight=100), new_job()
    for job in (paused, goes):
        _ranges(job, 1)
    leaves(0)
    _run(paused, seconds=1)
    BulkJob.objects.filter(pk=paused.pk).update(state=BulkJobState.PAUSED)
    _run(goes, seconds=2, start=_START + 5 * _SECOND)
    [lane] = BulkLane.objects.all()
    assert set(lane.granted) == {str(goes.pk)}


@pytest.mark.django_db
def test_the_test_group_is_exact_and_the_others_wait(new_job: NewJob) -> None:
    job = new_job(test_group={"size": 250, "wait_seconds": 60})
    _ranges(job, 3)
    assert len(_run(job, seconds=5)) == 250
    BulkJobPace.objects.create(job=job, test_group_ends_at=_START + 65 * _SECOND)
    assert _run(job, seconds=60, start=_START + 5 * _SECOND, every=20) == []
    assert _run(job, seconds=3, start=_START + 65 * _SECOND)


@pytest.mark.django_db
@pytest.mark.parametrize("wanted", [None, 10_000.0])
def test_a_job_without_a_rate_or_above_the_ceiling_gets_the_ceiling(
    new_job: NewJob, monkeypatch: pytest.MonkeyPatch, wanted: float | None
) -> None:
    limited = replace(conf.current(), bulk_job_rate=2.0)
    monkeypatch.setattr(conf, "current", lambda: limited)
    job = new_job(rate_per_second=wanted)
    BulkJob.objects.filter(pk=job.pk).update(state=BulkJobState.RUNNING, started_at=_START)
    _ranges(job, 1)
    part = BulkJobRange.objects.get(job=job)
    times = _page(part.pk, _START)
    assert len(times) == 2 * RATED_WINDOW.total_seconds()
    assert {later - first for first, later in itertools.pairwise(times)} == {_SECOND / 2}
    found = figures.of(BulkJob.objects.get(pk=job.pk), now=_START)
    assert found.rate_wanted == found.rate_ceiling == 2.0
