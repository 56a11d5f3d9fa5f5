"""`python -m tests.expander_processes PAGE SWEEP`: start processes that run a sweep until SIGKILL.

The sweep is `expand`, which expands bulk jobs, or another one of `notifications.core.sweeps`.

Django is imported once: a child begins milliseconds after the request. Each line on stdin starts a
child, whose process id is written to stdout.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

import django

from notifications.core import clock
from notifyproj.devstack.demo.environment import pause, until
from notifyproj.devstack.supervisor.process import ROOT

EXPANDERS: Final = 2
"""Processes that expand at the same time."""
PEOPLE: Final = """
    WITH people AS (
        INSERT INTO notifications_recipient
            (mode, user_id, locale, timezone, phone_timezone, created_at, updated_at)
        SELECT 1, 'bulk-' || n, 'en', 'UTC', '', now(), now() FROM generate_series(1, %s) n
        RETURNING id
    )
    INSERT INTO notifications_contact
        (recipient_id, channel, kind, address, is_primary, created_at, invalid_reason)
    SELECT id, 3, '', id || '@bulk.example', true, now(), '' FROM people
"""
"""Adds recipients with one mailbox each."""
_LONGEST_PAUSE: Final = 0.03
"""Seconds from some progress, or the kill before, to a kill."""
_LATEST: Final = timedelta(minutes=2)
"""For progress; a busy machine needs seconds for the start of an expander."""
_RESULT: Final = """
    SELECT count(*), count(DISTINCT d.recipient_id), count(DISTINCT d.id),
           (SELECT count(*) FROM notification WHERE bulk_job_id = %(job)s),
           (SELECT count(*) FROM event)
    FROM delivery d JOIN notification n ON n.id = notification_of(d.id)
    WHERE n.bulk_job_id = %(job)s
"""


def allow_all(job_id: UUID) -> None:
    """Let the lane of a job allow all recipients now: no worker empties the lane here."""
    from notifications.core.models import BulkJob, BulkLane  # noqa: PLC0415 - as above
    from notifications.features.bulk_jobs import lane_shares  # noqa: PLC0415 - after Django is set up

    lane = lane_shares.lane_of(BulkJob.objects.get(id=job_id))
    BulkLane.objects.update_or_create(
        mode=lane.mode,
        priority=lane.priority,
        channel=lane.channel,
        defaults={"granted": {str(job_id): 1e12}},
    )


def counts(job_id: UUID) -> tuple[int, ...]:
    """Return the deliveries, recipients and delivery ids of a job, its notifications, all events.

    Each is the number of the recipients if nobody was skipped and nobody got two messages.
    """
    from django.db import connection  # noqa: PLC0415 - after Django is set up

    with connection.cursor() as running:
        running.execute(_RESULT, {"job": job_id})
        found: tuple[int, ...] = running.fetchone()
    return found


def accepted(job_id: UUID) -> int:
    """Return the number of messages by the checkpoints of a job."""
    from notifications.features.bulk_jobs import stages  # noqa: PLC0415 - after Django is set up

    return stages.message_count(job_id)


def _has_accepted(job_id: UUID, count: int) -> bool:
    return accepted(job_id) >= count


class Expanders:
    """A process that starts and kills expanders."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def start(self, count: int = EXPANDERS) -> list[int]:
        """Start expanders; returns their process ids."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(b"\n" * count)
        self._process.stdin.flush()
        return [int(self._process.stdout.readline()) for _ in range(count)]

    def kill_often(self, job_id: UUID, kills: int, *, recipients: int) -> None:
        """Kill expanders at random points of a job, and start new ones after each kill of all.

        Args:
            job_id: the job.
            kills: a multiple of EXPANDERS.
            recipients: most recipients that get messages between two kills of all.
        """
        for _ in range(kills // EXPANDERS):
            enough = accepted(job_id) + round(clock.jitter() * recipients)
            pids = self.start()
            until(partial(_has_accepted, job_id, enough), what="progress", within=_LATEST)
            for pid in pids:
                pause(clock.jitter() * _LONGEST_PAUSE)
                os.kill(pid, signal.SIGKILL)


@contextmanager
def expanders(*, database_url: str, page: int, sweep: str = "expand") -> Iterator[Expanders]:
    """Run a process for expanders; at the end, the process and its expanders are stopped.

    Args:
        database_url: of the test database.
        page: limit of the sweep.
        sweep: a module of `notifications.core.sweeps`.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "tests.expander_processes", str(page), sweep],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database_url},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            yield Expanders(process)
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def main(page: str, sweep: str) -> None:
    """Start a child for each line of stdin."""
    django.setup()
    from notifications.core import feature, sweeps  # noqa: PLC0415 - after Django is set up

    run_once = sweeps.SWEEPS[sweep].run_once
    for each in (each for app in feature.all_features() for each in app.sweeps):
        if each.name == sweep:
            feature.import_function(each.run)  # else each child imports the feature
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel removes killed children
    for _ in iter(sys.stdin.readline, ""):
        if pid := os.fork():
            sys.stdout.write(f"{pid}\n")
            sys.stdout.flush()
        else:
            _work(lambda: run_once(now=clock.now(), limit=int(page)).moved)


def _work(sweep: Callable[[], int]) -> None:
    """Run a sweep without a pause between the runs, as busy workers do."""
    idle = threading.Event()
    while True:
        if not sweep():
            idle.wait(0.05)


if __name__ == "__main__":
    main(*sys.argv[1:])
