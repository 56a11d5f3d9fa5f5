"""Progress, rate and expected end of a bulk job."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Final

import pytest

from notifications.core.rules.bulk_job import BulkJobState, Expansion
from notifications.features.bulk_jobs.rules import figures
from notifications.features.bulk_jobs.rules.figures import Mark, Plan, Rates

NOW: Final = dt.datetime(2026, 11, 24, 12, 0, tzinfo=dt.UTC)
MINUTE: Final = dt.timedelta(minutes=1)
RUNNING: Final = Plan(
    state=BulkJobState.RUNNING, starts_at=NOW - MINUTE, started_at=NOW - MINUTE, estimate=1000
)
HALF: Final = Expansion(examined=500, accepted=400, ids=10_000, ids_done=2_500)


def test_percent_goes_by_the_estimate_or_by_the_ids() -> None:
    assert figures.percent(RUNNING, HALF) == 50.0
    assert figures.percent(replace(RUNNING, estimate=None), HALF) == 25.0
    assert figures.percent(RUNNING, Expansion()) == 0.0


def test_only_a_finished_job_has_100_percent() -> None:
    more = replace(HALF, examined=1200)
    assert figures.percent(RUNNING, more) == 99.9
    assert figures.percent(replace(RUNNING, state=BulkJobState.CANCELLED), HALF) == 50.0
    assert figures.percent(replace(RUNNING, state=BulkJobState.FINISHED), HALF) == 100.0


def test_a_rate_is_measured_from_the_mark() -> None:
    speed = figures.rates(HALF, Mark(NOW - MINUTE, examined=200, accepted=100), now=NOW)
    assert speed == Rates(examined=5.0, accepted=5.0)
    assert figures.rates(HALF, None, now=NOW) == Rates()
    assert figures.rates(HALF, Mark(NOW), now=NOW) == Rates()


def test_the_end_follows_from_the_measured_rate() -> None:
    assert figures.end(RUNNING, HALF, Rates(examined=5.0), now=NOW) == NOW + dt.timedelta(
        seconds=100
    )


def test_the_end_waits_for_the_last_range_and_the_start() -> None:
    later = replace(HALF, last_start=NOW + MINUTE)
    found = figures.end(RUNNING, later, Rates(examined=50.0), now=NOW)
    assert found == NOW + MINUTE + dt.timedelta(seconds=10)
    scheduled = Plan(
        state=BulkJobState.SCHEDULED, starts_at=NOW + MINUTE, estimate=600, rate_per_second=10
    )
    assert figures.end(scheduled, Expansion(), Rates(), now=NOW) == NOW + 2 * MINUTE
    spread = replace(scheduled, rate_per_second=None, spread_seconds=300)
    assert figures.end(spread, Expansion(), Rates(), now=NOW) == NOW + 6 * MINUTE


@pytest.mark.parametrize("state", [BulkJobState.PAUSED, *(s for s in BulkJobState if s.is_final)])
def test_a_job_that_does_not_run_has_no_end(state: BulkJobState) -> None:
    plan = replace(RUNNING, state=state)
    assert figures.end(plan, HALF, Rates(examined=5.0), now=NOW) is None


def test_an_end_that_nobody_can_compute_is_none() -> None:
    assert figures.end(RUNNING, HALF, Rates(), now=NOW) is None
    assert figures.end(RUNNING, HALF, Rates(examined=1e-12), now=NOW) is None
    assert figures.end(replace(RUNNING, estimate=None), Expansion(), Rates(5, 5), now=NOW) is None
