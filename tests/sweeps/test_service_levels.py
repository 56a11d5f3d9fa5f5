"""Service levels: burn rates from the roll-ups, samples of the backlog, stuck deliveries."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

import pytest

from notifications.core import clock
from notifications.core.models import (
    Alert,
    BacklogSample,
    Delivery,
    Rollup,
    RollupLatency,
    RollupSeries,
)
from notifications.core.rules import rollups
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.rollups import Cube, DimensionSet, Latency, Step
from notifications.core.rules.states import Status
from notifications.core.store.postgres import service_levels as figures
from notifications.core.sweeps import service_levels
from providers.contract import Channel
from tests.figures.conftest import sketch_of
from tests.sweeps.conftest import MakeRow

pytestmark = pytest.mark.django_db

MINUTE = dt.timedelta(minutes=1)


def look(*, after: dt.timedelta = dt.timedelta()) -> dict[tuple[str, str], str]:
    service_levels.run_once(now=clock.now() + after, limit=100)
    rows = Alert.objects.filter(resolved_at=None)
    return {(row.kind, row.subject): row.detail for row in rows}


def series(*, reason: str = "", priority: Priority = Priority.P1) -> RollupSeries:
    row, _ = RollupSeries.objects.get_or_create(
        dimension_set=DimensionSet.ROUTE,
        mode=Mode.LIVE,
        producer_id=1,
        channel=Channel.EMAIL,
        provider="ses",
        priority=priority,
        reason=reason,
    )
    return row


def count(*, reason: str = "", ago: dt.timedelta = dt.timedelta(), **counters: int) -> None:
    """Add counts to a minute and its hour."""
    for step in (Step.MINUTE, Step.HOUR):
        cube = Cube(step, DimensionSet.ROUTE).number
        bucket = step.floor(clock.now() - ago)
        row, _ = Rollup.objects.get_or_create(
            cube=cube, series_id=series(reason=reason).pk, bucket=bucket
        )
        columns = {name: (getattr(row, name) or 0) + value for name, value in counters.items()}
        Rollup.objects.filter(cube=cube, series_id=series(reason=reason).pk, bucket=bucket).update(
            **columns
        )


def test_nothing_alarms_without_traffic() -> None:
    assert look() == {}
    assert BacklogSample.objects.count() == len(Priority)
    look()
    assert BacklogSample.objects.count() <= 2 * len(Priority), "a minute has one sample"


def test_deliveries_that_give_up_burn_the_budget_and_the_end_resolves_the_alert() -> None:
    count(sent=1_000)
    assert look() == {}
    count(reason="retries_exhausted", failed=30)
    [(key, detail)] = look().items()
    assert key == ("service_level_missed", "deliveries sent")
    assert "30 of 1030 bad" in detail
    Rollup.objects.filter(failed__gt=0).delete()
    assert look() == {}


def test_rejected_addresses_are_no_failure_of_the_service() -> None:
    count(sent=1_000)
    count(reason="permanent", failed=60)
    assert set(look()) == {("permanent_failures_high", "")}


def test_retries_without_success_and_unknown_deliveries_alarm() -> None:
    count(sent=1_000, sent_after_retry=10, failed_after_retry=30)
    count(reason="unanswered", unknown=25)
    assert set(look()) == {("retry_success_low", ""), ("unknown_grow", "")}


def test_deliveries_closed_without_an_answer_burn_the_budget() -> None:
    count(sent=1_000)
    count(reason="closed_unanswered", unknown=30)
    [(key, detail)] = look().items()
    assert key == ("service_level_missed", "deliveries sent")
    assert "30 of 1030 bad" in detail


@pytest.mark.usefixtures("whole_tables")
def test_notifications_that_failed_on_all_channels_are_a_ticket_until_they_arrive(
    make_row: MakeRow,
) -> None:
    for _ in range(30):
        make_row(Status.DELIVERED, due_at=None)
    lost = [make_row(Status.FAILED, reason="ttl_exceeded", due_at=None) for _ in range(9)]
    assert look(after=MINUTE) == {}, "single failures of little traffic are silent"
    lost.append(make_row(Status.EXPIRED, reason="ttl_passed", due_at=None))
    [(key, detail)] = look(after=MINUTE).items()
    assert key == ("service_level_at_risk", "notifications reached")
    assert "10 of 40 bad" in detail
    Delivery.objects.filter(id__in=lost).update(status=Status.DELIVERED)
    assert look(after=MINUTE) == {}


def test_dead_addresses_are_no_missed_promise(make_row: MakeRow) -> None:
    for _ in range(30):
        make_row(Status.FAILED, reason="permanent", due_at=None)
    assert look(after=MINUTE) == {}


def latencies(latency: Latency, bins: dict[int, int]) -> None:
    """Store latencies of P0 in this minute and its hour."""
    for step in (Step.MINUTE, Step.HOUR):
        RollupLatency.objects.create(
            cube=Cube(step, DimensionSet.ROUTE).number,
            series_id=series(priority=Priority.P0).pk,
            kind=int(latency),
            bucket=step.floor(clock.now()),
            sketch=sketch_of(bins),
        )


SLOW, QUICK = rollups.bin_of(5_000), rollups.bin_of(100)


def test_slow_calls_of_p0_miss_the_service_level() -> None:
    latencies(Latency.ACCEPT_TO_CALL, {SLOW: 20, QUICK: 80})
    found = look()
    assert set(found) == {
        ("service_level_missed", "P0 called within 3 s"),
        ("processing_slow", "P0"),
    }
    assert "20 of 100 bad" in found["service_level_missed", "P0 called within 3 s"]


def test_p0_that_arrives_late_is_a_ticket_until_it_arrives_in_time() -> None:
    latencies(Latency.ACCEPT_TO_DELIVERED, {SLOW: 20, QUICK: 80})
    [(key, detail)] = look().items()
    assert key == ("service_level_at_risk", "P0 delivered within 3 s")
    assert "20 of 100 bad" in detail
    RollupLatency.objects.update(sketch=sketch_of({QUICK: 100}))
    assert look() == {}


def test_late_minutes_and_a_deep_queue_alarm_and_end() -> None:
    at = clock.now().replace(second=0, microsecond=0)
    BacklogSample.objects.bulk_create(
        BacklogSample(
            at=at - minute * MINUTE, priority=Priority.P1, depth=20_000, behind_ms=120_000
        )
        for minute in range(10)
    )
    assert set(look()) == {
        ("urgent_lane_behind", "P1"),
        ("queue_deep", "P1"),
        ("service_level_missed", "P1 called within 10 s"),
    }
    BacklogSample.objects.update(depth=0, behind_ms=0)
    assert look() == {}


def _sample_retries(waiting: Mapping[int, int | None]) -> None:
    """Store samples of P2; `waiting`: the retries that waited so many minutes ago."""
    at = clock.now().replace(second=0, microsecond=0)
    BacklogSample.objects.bulk_create(
        BacklogSample(
            at=at - minute * MINUTE, priority=Priority.P2, depth=0, behind_ms=0, retrying=count
        )
        for minute, count in waiting.items()
    )


def test_far_more_retries_than_usual_are_an_alert_until_they_fall(make_row: MakeRow) -> None:
    _sample_retries({each: 400 if each < 15 else each % 21 for each in range(1, 26 * 60)})
    for _ in range(3):
        make_row(Status.RETRYING, due_at=clock.now() + MINUTE)
    make_row(Status.SCHEDULED, due_at=clock.now() + MINUTE)
    assert look() == {}, "the sample of this minute has fallen"
    newest = BacklogSample.objects.filter(priority=Priority.P2).latest("at")
    assert (newest.retrying, newest.depth) == (3, 0)
    assert figures.retrying(now=clock.now())[Priority.P2] == 3
    BacklogSample.objects.filter(pk=newest.pk).update(retrying=410)
    [(key, detail)] = look().items()
    assert key == ("retries_deep", "P2")
    assert "410 wait for a retry; 10 are usual" in detail
    BacklogSample.objects.filter(pk=newest.pk).update(retrying=20)
    assert look() == {}


def test_samples_without_retries_give_no_usual_number_of_retries() -> None:
    _sample_retries({each: 400 if each < 15 else None for each in range(26 * 60)})
    assert look() == {}


def test_a_campaign_at_the_rate_limit_of_its_provider_pages_nobody() -> None:
    at = clock.now().replace(second=0, microsecond=0)
    BacklogSample.objects.bulk_create(
        BacklogSample(at=at - minute * MINUTE, priority=Priority.P3, depth=9_000, behind_ms=600_000)
        for minute in range(60)
    )
    assert set(look()) == {("service_level_at_risk", "P3 called within 300 s")}


def test_due_deliveries_that_no_sweep_takes_alarm(make_row: MakeRow) -> None:
    late = clock.now() - dt.timedelta(hours=1)
    make_row(Status.RETRYING, due_at=late)
    make_row(Status.SENDING, due_at=late)
    make_row(Status.QUEUED, due_at=late)
    found = look()
    assert {kind for kind, _ in found} == {"deliveries_stuck", "deliveries_orphaned"}
    assert "P2 push, retrying" in found["deliveries_stuck", ""]


def test_a_delivery_that_is_due_since_a_moment_is_no_problem(make_row: MakeRow) -> None:
    make_row(Status.RETRYING, due_at=clock.now() - MINUTE)
    make_row(Status.SENDING, due_at=clock.now() - MINUTE)
    assert look() == {}


def test_old_samples_are_deleted() -> None:
    BacklogSample.objects.create(
        at=clock.now() - dt.timedelta(days=9), priority=1, depth=5, behind_ms=5
    )
    look()
    assert not BacklogSample.objects.filter(depth=5).exists()
