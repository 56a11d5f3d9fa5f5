"""Endpoints, refusals that are not believed, and providers that throttle."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest
from django.db import OperationalError

from notifications.core.models import Alert, BreakerEvent
from notifications.core.rules.lane import Priority
from notifications.core.rules.rate_limits.circuit_breaker import (
    ENDPOINT_CALLS,
    PROBE_EVERY,
    REFUSALS_BELIEVED,
    BreakerChange,
    BreakerOverride,
    BreakerState,
    CallStats,
    HealthKey,
    Probe,
)
from notifications.core.store.cached import provider_overrides
from notifications.core.store.rate_limits import breaker_status, circuit_breakers, send_admission
from notifications.core.store.rate_limits.send_admission import AdmissionRequest
from notifications.core.store.redis import state
from providers.contract import Channel, Pace
from tests.store.ageing import age
from tests.store.telling import (
    FAULT,
    HOOK,
    OTHER_HOOK,
    PROBE_WELL,
    PUSH,
    SECOND,
    SMS,
    ask,
    down,
    refused,
    report,
    silent,
    well,
)


@pytest.fixture(autouse=True)
def _fresh(db: None) -> Iterator[None]:  # noqa: ARG001 - pytest-django asks for it by name
    state.client().flushdb()
    for each in (circuit_breakers, provider_overrides):
        each.forget()
    yield
    provider_overrides.forget()


def test_an_account_that_is_refused_while_others_are_accepted_trips_at_the_third() -> None:
    report(PUSH, well(10))
    for _ in range(3):
        assert ask().state is BreakerState.CLOSED
        report(PUSH, FAULT)
    assert ask().state is BreakerState.OPEN


def test_endpoints_of_one_provider_do_not_know_each_other() -> None:
    for _ in range(3):
        report(HOOK, down())
        age(SECOND)
    assert ask(HOOK).state is BreakerState.OPEN
    assert ask(OTHER_HOOK).state is BreakerState.CLOSED
    resting = breaker_status.endpoints(HOOK.pair, limit=5)
    assert resting.count == 1
    assert [name for name, _ in resting.shown] == [HOOK.endpoint]
    assert not BreakerEvent.objects.exists()
    assert not Alert.objects.exists()
    age(PROBE_EVERY)
    ask(HOOK)
    report(HOOK, PROBE_WELL)
    assert ask(HOOK).state is BreakerState.CLOSED
    assert breaker_status.endpoints(HOOK.pair, limit=5).count == 0


def test_of_ten_thousand_resting_endpoints_some_are_shown_and_all_are_counted() -> None:
    names = [f"https://{number}.example:443" for number in range(300)]
    circuit_breakers.record_calls({
        HealthKey("hooks", Channel.WEBHOOK, name): FAULT for name in names
    })
    resting = breaker_status.endpoints(HOOK.pair, limit=20)
    assert (resting.count, len(resting.shown)) == (300, 20)


def test_an_endpoint_gets_no_more_calls_than_it_answers() -> None:
    assert ask(HOOK, count=500).room == ENDPOINT_CALLS
    assert ask(HOOK, count=500).room == 0
    assert ask(OTHER_HOOK, count=5).room == 5
    circuit_breakers.record_calls({HOOK: well(40)})
    assert ask(HOOK, count=500).room == 2 * 40
    circuit_breakers.record_calls({HOOK: silent(1)})
    assert ask(HOOK, count=500).room == 0  # back to what it had before it answered any


def test_calls_of_a_worker_that_died_do_not_block_an_endpoint_for_ever() -> None:
    ask(HOOK, count=500)
    age(dt.timedelta(seconds=20))
    assert ask(HOOK, count=500).room == ENDPOINT_CALLS


def test_ten_refusals_of_a_wave_are_believed() -> None:
    verdict = report(PUSH, refused(500, dead=500))
    assert verdict is not None
    assert (verdict.change, verdict.believed) == (BreakerChange.TRIPPED, REFUSALS_BELIEVED)
    while_open = report(PUSH, refused(100, dead=100))
    assert while_open is not None
    assert while_open.believed == 0
    assert breaker_status.of([PUSH])[PUSH].is_rejecting


def test_refusals_that_come_one_by_one_are_a_wave_too() -> None:
    believed = 0
    for _ in range(30):
        verdict = report(PUSH, refused(1, dead=1))
        assert verdict is not None
        believed += verdict.believed
        age(10 * SECOND)
    assert believed == REFUSALS_BELIEVED


def test_a_rejecting_provider_closes_by_acceptance_alone_and_stays_in_doubt() -> None:
    report(PUSH, refused(20, dead=20))
    age(PROBE_EVERY)
    assert ask().state is BreakerState.HALF_OPEN
    report(PUSH, CallStats(rejected=1, last_dead=1, calls=1, probe=Probe.ANSWERED))
    assert ask().state is BreakerState.OPEN
    age(PROBE_EVERY)
    ask()
    report(PUSH, PROBE_WELL)
    assert ask().state is BreakerState.CLOSED
    in_doubt = report(PUSH, refused(5, dead=5, after=5))
    assert in_doubt is not None
    assert in_doubt.believed == 0
    cleared = report(PUSH, refused(3, dead=1, after=30))
    assert cleared is not None
    assert cleared.believed == 3


def test_a_provider_that_refuses_few_is_believed() -> None:
    for _ in range(20):
        verdict = report(PUSH, refused(30, dead=1, after=70))
        assert verdict is not None
        assert verdict.believed == 30


def test_a_breaker_that_is_forced_closed_spares_no_attempt_and_follows_its_calls() -> None:
    circuit_breakers.force(PUSH.pair, BreakerOverride.CLOSED, by="maria")
    tripped = report(PUSH, down(10))
    assert tripped is not None
    assert not tripped.is_open  # everything is sent, so every failure counts
    circuit_breakers.forget()  # a second later: success is told once in it
    answered = report(PUSH, well(5))
    assert answered is not None
    assert answered.change is BreakerChange.CLOSED
    circuit_breakers.force(PUSH.pair, BreakerOverride.AUTO, by="maria")
    assert ask().state is BreakerState.CLOSED


def test_what_an_operator_has_forced_closed_is_believed() -> None:
    circuit_breakers.force(PUSH.pair, BreakerOverride.CLOSED, by="maria")
    verdict = report(PUSH, refused(500, dead=500))
    assert verdict is not None
    assert verdict.believed == 500


def test_a_throttled_provider_gets_half_the_pace_and_recovers() -> None:
    def per_second() -> float:
        wanted = AdmissionRequest(
            key=SMS, priority=Priority.P0, count=1, pace=Pace(burst=1, per_second=100)
        )
        [answer] = send_admission.check([wanted])
        return SECOND / answer.spacing

    assert per_second() == pytest.approx(100)
    report(SMS, CallStats(throttled=50, calls=50))
    report(SMS, CallStats(throttled=50, calls=50))  # the same second says the same thing
    assert per_second() == pytest.approx(50, rel=0.02)
    age(SECOND)
    report(SMS, CallStats(throttled=1, calls=1))
    assert per_second() == pytest.approx(26, rel=0.05)
    age(30 * SECOND)
    assert per_second() == pytest.approx(76, rel=0.05)
    age(30 * SECOND)
    assert per_second() == pytest.approx(100)


def test_a_throttled_provider_without_a_pace_gets_one_from_what_it_was_sent() -> None:
    report(PUSH, well(3_000))
    age(dt.timedelta(seconds=30))
    assert ask().slots is None
    report(PUSH, CallStats(throttled=1, calls=1))
    answer = ask(count=1_000)
    assert answer.slots is not None
    assert 20 <= len(answer.slots) <= 150  # half of at most 100 a second, four fifths of it, 2 s
    age(dt.timedelta(minutes=1))
    assert ask(count=1_000, key=PUSH).spacing < answer.spacing


def test_while_redis_is_away_everything_leaves_and_a_batch_speaks_for_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report(PUSH, down(10))

    def away(*_: object, **__: object) -> object:
        raise state.Away

    monkeypatch.setattr(state, "connection", away)
    assert ask().state is BreakerState.CLOSED
    assert ask().slots is None
    assert not breaker_status.of([PUSH])[PUSH].is_open
    believed = [report(PUSH, refused(50, after=after)) for after in (0, 50)]
    assert [verdict and verdict.believed for verdict in believed] == [REFUSALS_BELIEVED, 50]


def test_outcomes_are_reported_while_postgres_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> object:
        raise OperationalError

    monkeypatch.setattr(provider_overrides, "current", away)
    verdict = report(PUSH, refused(50))
    assert verdict is not None
    assert verdict.believed == REFUSALS_BELIEVED
