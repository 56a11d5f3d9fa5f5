"""The metrics of provider calls: each result once, retries, and latencies of live mode."""

from __future__ import annotations

import datetime as dt
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import OperationalError
from pytest_django import DjangoCaptureOnCommitCallbacks

from notifications.core import clock
from notifications.core.delivery import deliver
from notifications.core.models import Attempt, Delivery, Notification, ProviderRoute
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.store.postgres import attempts
from notifications.core.telemetry import instruments
from providers.contract import Accepted, Channel, Outcome, Rejected, Repeat, Throttled
from providers.refused_parts import RefusedPart
from tests.journey import Accept, AddVendor, Reach, take_rows
from tests.vendors import Scripted


class _Growth:
    """The growth of the samples since the creation, summed over the labels that are not named."""

    def __init__(self) -> None:
        self._before = self._load()

    @staticmethod
    def _load() -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in instruments.REGISTRY.collect()
            for sample in family.samples
        }

    def of(self, name: str, **labels: str) -> float:
        wanted = set(labels.items())
        return sum(
            value - self._before.get((sample, has), 0.0)
            for (sample, has), value in self._load().items()
            if sample == f"notifications_{name}" and wanted <= has
        )


def test_each_result_is_counted_once_with_its_lane(
    scripted: Scripted,
    take: Accept,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    growth = _Growth()
    rows = take_rows(take, 4)
    assert growth.of("accepted_total", mode="live") == 4
    assert growth.of("deliveries_total", mode="live") == 4
    assert growth.of("accept_seconds_count") == 4
    answers: dict[UUID, Outcome] = {
        rows[0]: Throttled(code="429"),
        rows[1]: Rejected(code="132001", refused_part=RefusedPart.TEMPLATE),
    }
    scripted.answer = lambda batch: (
        (each, answers.get(each.delivery_id, Accepted())) for each in batch
    )
    with django_capture_on_commit_callbacks(execute=True):
        deliver.deliver(rows)
    lane = {"mode": "live", "priority": "P2", "channel": "email"}
    assert growth.of("calls_total", **lane, provider="scripted", outcome="accepted") == 2
    assert growth.of("calls_total", **lane, provider="scripted", outcome="throttled") == 1
    assert growth.of("calls_total", **lane, provider="scripted", outcome="refused_part") == 1
    assert growth.of("calls_total") == 4
    assert growth.of("retries_total") == 0
    assert growth.of("transitions_total", **lane, status="sent") == 2
    assert growth.of("transitions_total", **lane, status="failed") == 1
    assert growth.of("transitions_total", **lane, status="retrying") == 1
    assert growth.of("call_seconds_count", provider="scripted", channel="email") == 4
    assert growth.of("call_seconds_bucket", provider="scripted", le="0.005") == 4
    assert growth.of("stage_seconds_count", stage="called", priority="P2") == 4
    assert growth.of("stage_seconds_count", stage="sent", priority="P2") == 2


def test_a_second_call_is_a_retry_and_no_first_call_of_a_stage(
    scripted: Scripted, take: Accept
) -> None:
    rows = take_rows(take, 2)
    scripted.answer = lambda batch: ((each, Throttled(code="429")) for each in batch)
    deliver.deliver(rows)
    Delivery.objects.update(due_at=TransactionNow() - dt.timedelta(seconds=7))
    scripted.answer = lambda batch: ((each, Accepted()) for each in batch)
    growth = _Growth()
    deliver.deliver(rows)
    assert growth.of("retries_total", provider="scripted") == 2
    assert growth.of("stage_seconds_count") == 0
    assert growth.of("retry_lag_seconds_count", priority="P2", channel="email") == 2
    assert growth.of("retry_lag_seconds_sum") > 12
    assert growth.of("repeats_total") == 0


def test_a_first_call_after_a_wait_is_no_retry(scripted: Scripted, take: Accept) -> None:
    rows = take_rows(take, 1)
    Delivery.objects.update(status=Status.SCHEDULED, due_at=TransactionNow())
    growth = _Growth()
    deliver.deliver(rows)
    assert scripted.name
    assert growth.of("calls_total") == 1
    assert growth.of("retry_lag_seconds_count") == 0


def _called_before(row: UUID, *, provider: str, outcome: str = "unanswered") -> None:
    Delivery.objects.filter(id=row).update(attempts=1)
    Attempt.objects.create(
        delivery_id=row,
        number=1,
        provider=provider,
        outcome=outcome,
        started_at=clock.now(),
        latency_ms=1,
    )


def test_an_acceptance_after_an_unanswered_call_is_a_repeat_that_a_person_may_have_seen(
    scripted: Scripted, take: Accept
) -> None:
    rows = take_rows(take, 3)
    _called_before(rows[0], provider=scripted.name)
    _called_before(rows[1], provider=scripted.name, outcome="unavailable")
    growth = _Growth()
    deliver.deliver(rows)
    assert growth.of("calls_total", outcome="accepted") == 3
    assert growth.of("repeats_total", mode="live", provider=scripted.name) == 1


@pytest.mark.parametrize(("first", "repeats"), [("knows_keys", 0), ("another", 1)])
def test_a_provider_that_recognises_the_key_repeats_only_calls_of_others(
    reach: Reach, add_vendor: AddVendor, take: Accept, first: str, repeats: int
) -> None:
    add_vendor("knows_keys", repeat=Repeat.DEDUPLICATED)
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="knows_keys")
    reach(email="maria@sandbox.example")
    [row] = take_rows(take, 1)
    _called_before(row, provider=first)
    growth = _Growth()
    deliver.deliver([row])
    assert growth.of("calls_total", provider="knows_keys", outcome="accepted") == 1
    assert growth.of("repeats_total") == repeats


def test_a_database_that_is_away_after_the_commit_costs_the_count_alone(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_arguments: object, **_named: object) -> int:
        raise OperationalError

    [row] = take_rows(take, 1)
    _called_before(row, provider=scripted.name)
    monkeypatch.setattr(attempts, "perhaps_seen_before", away)
    growth = _Growth()
    deliver.deliver([row])
    assert Delivery.objects.get(id=row).status == Status.SENT
    assert growth.of("calls_total", outcome="accepted") == 1
    assert growth.of("repeats_total") == 0


def test_a_scheduled_delivery_has_no_time_from_accept(scripted: Scripted, take: Accept) -> None:
    rows = take_rows(take, 1)
    Notification.objects.update(scheduled_at=clock.now())
    growth = _Growth()
    deliver.deliver(rows)
    assert scripted.name
    assert growth.of("calls_total", outcome="accepted") == 1
    assert growth.of("stage_seconds_count") == 0


def test_test_mode_is_counted_and_not_timed(scripted: Scripted, take: Accept) -> None:
    rows = take_rows(take, 1)
    Delivery.objects.update(mode=Mode.TEST)
    growth = _Growth()
    deliver.deliver(rows)
    assert scripted.name
    assert growth.of("calls_total", mode="test") == 1
    assert growth.of("call_seconds_count") == 0


def test_a_process_whose_metrics_are_not_served_counts_nothing(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instruments._Switch, "is_on", False)
    growth = _Growth()
    deliver.deliver(take_rows(take, 1))
    assert scripted.name
    assert growth.of("calls_total") == growth.of("accepted_total") == 0
    assert growth.of("settle_seconds_count") == growth.of("accept_seconds_count") == 0
