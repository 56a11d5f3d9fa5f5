"""Fixtures of `tests.journey` and bulk jobs."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from notifications.core import clock
from notifications.core.intake.accept import Caller
from notifications.core.models import BulkJob, Delivery
from notifications.core.rules.problems import Problem
from notifications.features.bulk_jobs import create, expand, progress, stages
from notifications.features.bulk_jobs.rules import pace
from notifications.features.bulk_jobs.rules import request as requests
from tests.journey import caller, outbox, reach, scripted, take

__all__ = ["caller", "outbox", "reach", "scripted", "take"]

NewJob = Callable[..., BulkJob]


@pytest.fixture
def new_job(caller: Caller) -> NewJob:
    """Return a function that creates and starts a job; `fields` of the request replace mine."""

    def make(**fields: object) -> BulkJob:
        body = {
            "name": "November",
            "audience": {"everyone": True},
            "type": "LIKE",
            "template_id": "otp",
            "variables": {"name": "Hi", "code": "1"},
            "channels": ["email"],
            **fields,
        }
        request = requests.parse(body)
        assert not isinstance(request, Problem), request
        job = create.create(caller, request, by="test")
        progress.start_due(limit=10)
        job.refresh_from_db()
        return job

    return make


def expand_all(job: BulkJob, limit: int = expand.PAGE) -> None:
    """Expand a job to its end."""
    while open_ranges := stages.open_ranges(job, clock.now()):
        for each in open_ranges:
            expand.expand_page(each, limit=limit)
    progress.finish(job)
    job.refresh_from_db()


def expand_at_once(job: BulkJob, *, limit: int) -> None:
    """Expand a job to its end by four threads that begin together."""
    start = threading.Barrier(4)

    def work(_number: int) -> None:
        start.wait()
        try:
            expand_all(BulkJob.objects.get(id=job.pk), limit=limit)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


def due_gaps() -> set[int]:
    """Return the seconds between the due times of all deliveries."""
    found = Delivery.objects.values_list("due_at", flat=True)
    due = sorted(each for each in found if each is not None)
    return {round((later - before).total_seconds()) for before, later in itertools.pairwise(due)}


@pytest.fixture(autouse=True)
def wide_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each lane a large window: without a relay no row of a test leaves its lane."""
    monkeypatch.setattr(pace, "SMALLEST_WINDOW", 10_000_000)
