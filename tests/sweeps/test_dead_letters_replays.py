"""Replay jobs: worked off in turns, shared by processes, and in the places of their producers."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import psycopg
import pytest
from celery import Task
from django.db import connection
from django_celery_beat.models import PeriodicTask

from notifications.core import clock, sweeps
from notifications.core.models import DeadLetter, ReplayJob
from notifications.core.models import Event as EventRow
from notifications.core.operations import replay
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.store.postgres import db, dead_letters, periodic_tasks, replay_letters
from notifications.core.store.redis import state
from notifications.core.sweeps import dead_letters as dead_letter_sweep
from notifications.core.sweeps import rounds
from notifications.core.tasks import sweep as tasks
from tests.sweeps.conftest import PUSH_LANE, replay_job


@pytest.fixture(autouse=True)
def _empty_state() -> None:
    state.client().flushdb()


def _run(limit: int = 5) -> rounds.Swept:
    return dead_letter_sweep.replay_jobs(now=clock.now(), limit=limit)


@pytest.mark.django_db
def test_jobs_take_turns_and_a_run_that_has_no_time_left_says_that_there_is_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs = [replay_job(12)[0], replay_job(3)[0]]
    monkeypatch.setattr(rounds, "SECONDS", 0.0)
    assert _run() == rounds.Swept(8, more=True)
    counts = ReplayJob.objects.order_by("id").values_list("replayed", flat=True)
    assert list(counts.filter(id__in=[job.pk for job in jobs])) == [5, 3]
    monkeypatch.undo()
    assert _run() == rounds.Swept(7)
    assert not ReplayJob.objects.filter(finished_at=None).exists()


def _buried(count: int) -> None:
    """Store open dead letters without a job."""
    job, _ = replay_job(count)
    DeadLetter.objects.filter(replay_job=job).update(replay_job=None)
    job.delete()


def _start() -> ReplayJob:
    letters = LetterFilter(reason="exhausted", mode=PUSH_LANE.mode, channel=PUSH_LANE.channel)
    return replay.start(letters, requested_by="tests", forced=False, renews_ttl=False)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_letters, "_AT_ONCE", 3)
    monkeypatch.setattr(replay_letters, "_IDS", 2)


@pytest.mark.django_db
@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("is_finished_by_older_release", [False, True])
def test_the_letters_of_a_job_join_in_batches_and_later_letters_do_not(
    *, is_finished_by_older_release: bool
) -> None:
    _buried(10)
    job = _start()
    assert (job.total, job.letters.count()) == (10, 3)
    last = DeadLetter.objects.filter(replay_job=None).latest("pk")
    dead_letters.resolve([last], "discarded by tests")
    _buried(1)
    held: list[int] = []
    if is_finished_by_older_release:
        ReplayJob.objects.filter(pk=job.pk).update(finished_at=clock.now())
    while _run(limit=2).more or not held:
        held.append(DeadLetter.objects.filter(replay_job=job, resolved_at=None).count())
        assert len(held) < 20
    _run()
    job.refresh_from_db()
    assert (job.total, job.replayed, job.unassigned) == (9, 9, None)
    assert job.finished_at is not None
    assert max(held) <= 3 + 2
    assert DeadLetter.objects.filter(resolved_at=None).count() == 1


@pytest.mark.django_db
@pytest.mark.usefixtures("small_batches")
def test_a_stopped_job_takes_no_further_letters() -> None:
    _buried(10)
    job = _start()
    assert replay.stop(job) == 10
    assert _run() == rounds.Swept()
    assert replay.run(job, limit=5) == replay.Ran()
    assert DeadLetter.objects.filter(replay_job=None, resolved_at=None).count() == 10
    assert ReplayJob.objects.get(pk=job.pk).finished_at is not None


def test_a_filter_that_a_job_keeps_is_read_back() -> None:
    letters = LetterFilter(
        reason="exhausted",
        channel=PUSH_LANE.channel,
        provider="fcm",
        since=clock.now(),
        until=clock.now(),
        producer_id=7,
        mode=PUSH_LANE.mode,
    )
    for each in (letters, LetterFilter()):
        assert LetterFilter.from_json(json.loads(json.dumps(each.to_json()))) == each


@pytest.mark.django_db
def test_a_job_that_fails_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    bad, good = replay_job(3)[0], replay_job(3)[0]
    worked = replay.run

    def run(job: ReplayJob, *, limit: int) -> replay.Ran:
        if job.pk == bad.pk:
            msg = "a letter that an older release wrote"
            raise KeyError(msg)
        return worked(job, limit=limit)

    monkeypatch.setattr(replay, "run", run)
    assert _run() == rounds.Swept(3, failed=1)
    good.refresh_from_db()
    assert good.replayed == 3


@pytest.mark.django_db(transaction=True)
def test_a_job_with_a_locked_delivery_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "SECONDS", 60.0)
    (_, locked), (good, _) = replay_job(1), replay_job(3)
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SELECT FROM delivery WHERE id = %s FOR UPDATE", locked)
        assert _run() == rounds.Swept(3, failed=1)
    good.refresh_from_db()
    assert (good.replayed, _run()) == (3, rounds.Swept(1))


@pytest.mark.django_db
def test_a_run_goes_on_behind_the_first_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [replay_job(1)[0] for _ in range(25)]
    worked = replay.run

    def run(job: ReplayJob, *, limit: int) -> replay.Ran:
        if job in jobs[:20]:
            msg = "a letter that an older release wrote"
            raise KeyError(msg)
        return worked(job, limit=limit)

    monkeypatch.setattr(rounds, "SECONDS", 60.0)
    with monkeypatch.context() as broken:
        broken.setattr(replay, "run", run)
        assert _run() == rounds.Swept(5, failed=20)
    assert _run() == rounds.Swept(20)


@pytest.mark.django_db
def test_a_dead_letter_that_raises_leaves_its_job_and_the_others_are_replayed(
    log_output: Callable[[], str],
) -> None:
    job, rows = replay_job(12)
    bad = DeadLetter.objects.get(delivery_id=rows[5])
    DeadLetter.objects.filter(id=bad.pk).update(channel=99)  # of a release that knew this channel
    assert _run(limit=12) == rounds.Swept(12, failed=1)
    job.refresh_from_db()
    assert (job.replayed, job.skipped, job.finished_at is not None) == (11, 1, True)
    assert list(dead_letters.matching(LetterFilter())) == [bad]
    assert f'"dead_letter": {bad.pk}, "event": "dead_letter_not_replayed"' in log_output()
    assert _run() == rounds.Swept()


@pytest.mark.django_db(transaction=True)
def test_two_processes_share_a_job_and_replay_each_letter_once() -> None:
    job, rows = replay_job(60)
    start = Barrier(2)

    def sweep() -> int:
        try:
            start.wait(timeout=20)
            return _run(limit=7).moved
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(sweep) for _ in range(2)]
        assert sum(each.result(timeout=30) for each in both) == len(rows)
    assert _run().moved == 0
    assert EventRow.objects.filter(reason="replayed", delivery_id__in=rows).count() == len(rows)
    job.refresh_from_db()
    assert (job.replayed, job.finished_at is not None) == (60, True)


@pytest.mark.django_db(transaction=True)
def test_a_dead_letter_is_discarded_or_belongs_to_a_replay_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replay_job(1)
    DeadLetter.objects.update(replay_job=None)
    letter = DeadLetter.objects.get()
    resolve, is_read, is_started = dead_letters.resolve, Event(), Event()

    def resolve_late(letters: list[DeadLetter], resolution: str) -> int:
        is_read.set()
        is_started.wait(timeout=1)  # a replay that waits for the lock does not start
        return resolve(letters, resolution)

    def discard() -> int:
        try:
            return replay.discard([letter.pk], by="tests")
        finally:
            connection.close()

    monkeypatch.setattr(dead_letters, "resolve", resolve_late)
    with ThreadPoolExecutor(1) as pool:
        discarded = pool.submit(discard)
        assert is_read.wait(timeout=20)
        wanted = LetterFilter(ids=(letter.pk,))
        job = replay.start(wanted, requested_by="tests", forced=False, renews_ttl=False)
        is_started.set()
        assert discarded.result(timeout=20) + job.total == 1


@pytest.fixture
def further(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """Options of the messages that the task of the replays has sent."""
    sent: list[dict[str, object]] = []
    monkeypatch.setattr(Task, "apply_async", lambda _task, **options: sent.append(options))
    return sent


@pytest.mark.django_db
def test_a_run_that_leaves_rows_asks_for_a_further_one_beside_beats(
    further: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "SECONDS", 0.0)
    replay_job(1_100)
    tasks.TASKS["replays"]()
    assert [options["kwargs"] for options in further] == [{"helps": True}]
    assert tasks.TASKS["replays"](helps=True) == "500 moved, 0 failed"  # its interval is not over
    assert tasks.TASKS["replays"](helps=True) == "100 moved, 0 failed"
    assert tasks.TASKS["replays"](helps=True) == "0 moved, 0 failed"
    assert len(further) == 3


@pytest.mark.django_db
def test_the_keyword_arguments_of_the_periodic_task_set_the_rows_in_a_batch(
    further: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "SECONDS", 0.0)
    sweeps.create_periodic_tasks()
    row = PeriodicTask.objects.get(name="replays")
    periodic_tasks.set_limit(row, 40)
    replay_job(100)
    given = json.loads(row.kwargs)  # what beat sends
    assert tasks.TASKS["replays"](**given) == "40 moved, 0 failed"
    assert [options["kwargs"] for options in further] == [{"helps": True, "limit": 40}]
    assert tasks.TASKS["replays"](helps=True, limit=40) == "40 moved, 0 failed"


@pytest.mark.django_db
def test_a_further_run_does_nothing_while_its_sweep_is_off_or_its_process_helps_already() -> None:
    sweeps.create_periodic_tasks()
    PeriodicTask.objects.filter(name="replays").update(enabled=False)
    replay_job(2)
    assert sweeps.help_out("replays") == rounds.Swept()
    PeriodicTask.objects.filter(name="replays").update(enabled=True)
    with sweeps._helping:
        assert sweeps.help_out("replays") == rounds.Swept()
    assert sweeps.help_out("replays") == rounds.Swept(2)


@pytest.mark.django_db(transaction=True)
def test_a_stop_beside_a_run_of_the_sweep_waits_for_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job, rows = replay_job(6)
    count, is_counting, is_stopped = dead_letters.count, Event(), Event()

    def count_late(of_job: ReplayJob, *, replayed: int, skipped: int) -> None:
        is_counting.set()
        is_stopped.wait(timeout=0.3)
        count(of_job, replayed=replayed, skipped=skipped)

    def run() -> replay.Ran:
        try:
            return replay.run(job, limit=4)
        finally:
            connection.close()

    monkeypatch.setattr(dead_letters, "count", count_late)
    monkeypatch.setattr(db, "_TRIES", 1)  # a deadlock is an error
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        assert is_counting.wait(timeout=20)
        assert replay.stop(job) == 2
        is_stopped.set()
        assert running.result(timeout=20).letters == 4
    job.refresh_from_db()
    assert (job.replayed, job.finished_at is not None) == (4, True)
    assert DeadLetter.objects.filter(delivery_id__in=rows, replay_job=None).count() == 2
