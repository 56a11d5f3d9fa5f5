"""A breaker trips, asks by probes, and closes: in Redis, for all processes at once."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterator
from uuid import UUID

import pytest

from notifications.core import clock
from notifications.core.models import Alert, Breaker, BreakerEvent
from notifications.core.rules.lane import Priority
from notifications.core.rules.rate_limits.circuit_breaker import (
    LOOKS_PER_SECOND,
    PROBE_EVERY,
    REFUSAL_SAMPLE,
    STREAKS,
    BreakerOverride,
    BreakerState,
    CallStats,
    HealthKey,
    Probe,
)
from notifications.core.store.cached import provider_overrides
from notifications.core.store.rate_limits import breaker_status, circuit_breakers
from notifications.core.store.redis import state
from providers.contract import Channel
from tests.store.ageing import age
from tests.store.telling import (
    ANNA,
    BEN,
    CARLA,
    EMAIL,
    FAULT,
    HOOK,
    PROBE_DOWN,
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


def _kinds() -> list[str]:
    return [event.kind for event in BreakerEvent.objects.order_by("id")]


@pytest.mark.parametrize(
    ("key", "tallies"),
    [
        (PUSH, [down(10)]),
        (PUSH, [down(4), silent(6)]),
        (PUSH, [down(3), well(), down(10)]),
        (SMS, [silent(2), down(3)]),
        (EMAIL, [well(79), down(21)]),
        (EMAIL, [well(49), CallStats(unanswered=51, accepted=1, last_failures=1, calls=52)]),
        (EMAIL, [FAULT]),
        (EMAIL, [refused(REFUSAL_SAMPLE)]),
        (EMAIL, [refused(11, after=10)]),
        (PUSH, [refused(5, dead=5), refused(5, dead=5)]),
    ],
    ids=repr,
)
def test_it_trips_at_its_threshold_and_not_before(key: HealthKey, tallies: list[CallStats]) -> None:
    for tally in tallies:
        assert ask(key).state is BreakerState.CLOSED
        report(key, tally)
    answer = ask(key)
    assert answer.state is BreakerState.OPEN
    assert dt.timedelta(0) < answer.wait <= PROBE_EVERY
    assert _kinds() == ["tripped"]


@pytest.mark.parametrize(
    ("key", "tallies"),
    [
        (PUSH, [down(9), well(), down(9)]),
        (PUSH, [down(9), down(5, after=1)]),
        (SMS, [down(4)]),
        (EMAIL, [down(99)]),
        (EMAIL, [well(80), down(20)]),
        (EMAIL, [well(50), silent(50)]),
        (EMAIL, [refused(REFUSAL_SAMPLE - 1)]),
        (EMAIL, [refused(10, after=10)]),
        (PUSH, [refused(9, dead=9), refused(1, after=1)]),
        (PUSH, [well(10), FAULT, well(10), FAULT, FAULT]),
        (PUSH, [CallStats(throttled=500, calls=500)]),
    ],
    ids=repr,
)
def test_it_bears_what_is_below(key: HealthKey, tallies: list[CallStats]) -> None:
    for tally in tallies:
        report(key, tally)
    assert ask(key).state is BreakerState.CLOSED
    assert _kinds() == []


@pytest.mark.parametrize("key", [PUSH, EMAIL, SMS, HOOK], ids=str)
def test_with_little_traffic_three_failures_over_two_seconds_are_enough(key: HealthKey) -> None:
    report(key, down())
    age(SECOND)
    report(key, down())
    assert ask(key).state is BreakerState.CLOSED
    age(SECOND)
    verdict = report(key, down())
    assert verdict is not None
    assert verdict.is_open
    assert verdict.why == "3 failures in a row in 2 s"
    assert ask(key).state is BreakerState.OPEN


def test_an_answer_between_failures_begins_the_row_anew() -> None:
    for tally in (down(), down(), refused(1), down(), down()):
        age(SECOND)
        report(EMAIL, tally)
    assert ask(EMAIL).state is BreakerState.CLOSED


def test_failures_of_ten_minutes_ago_do_not_count() -> None:
    report(EMAIL, down(99))
    age(dt.timedelta(minutes=10))
    report(EMAIL, well(90))
    report(EMAIL, down(10))
    assert ask(EMAIL).state is BreakerState.CLOSED


def test_one_probe_goes_and_its_success_closes() -> None:
    report(PUSH, down(10))
    age(PROBE_EVERY)
    answer = ask()
    assert (answer.state, answer.probe) == (BreakerState.HALF_OPEN, ANNA)
    held = ask()
    assert held.state is BreakerState.OPEN
    assert held.wait <= dt.timedelta(seconds=3)  # the probe's answer, not the next probe
    report(PUSH, PROBE_WELL)
    assert ask().state is BreakerState.CLOSED
    assert _kinds() == ["tripped", "probed", "closed"]
    row = Breaker.objects.get()
    assert (row.trips, row.probes, row.closes) == (1, 1, 1)


@pytest.mark.parametrize("probe", [Probe.ANSWERED, Probe.ACCEPTED])
def test_a_probe_that_is_refused_was_answered(probe: Probe) -> None:
    report(PUSH, down(10))
    age(PROBE_EVERY)
    ask()
    report(PUSH, CallStats(rejected=1, calls=1, probe=probe))
    assert ask().state is BreakerState.CLOSED


def test_a_probe_that_fails_leaves_it_open_till_the_next() -> None:
    report(PUSH, down(10))
    age(PROBE_EVERY)
    assert ask().state is BreakerState.HALF_OPEN
    report(PUSH, PROBE_DOWN)
    assert ask().wait > dt.timedelta(seconds=5)  # the wait for a probe's answer is shorter
    age(PROBE_EVERY)
    assert ask().state is BreakerState.HALF_OPEN


def test_a_probe_that_is_never_heard_of_is_followed_by_another() -> None:
    report(PUSH, down(10))
    for _ in range(2):
        age(PROBE_EVERY)
        assert ask(who=[ANNA]).state is BreakerState.HALF_OPEN


def test_a_success_that_was_no_probe_closes_nothing() -> None:
    report(PUSH, down(10))
    age(PROBE_EVERY)
    ask()
    report(PUSH, well(50))
    assert ask().state is BreakerState.OPEN


def test_no_delivery_is_the_probe_twice_in_a_row_while_others_wait() -> None:
    report(PUSH, down(10))
    probes = []
    for _ in range(4):
        age(PROBE_EVERY)
        answer = ask(who=[ANNA, BEN])
        probes.append(answer.probe)
        report(PUSH, PROBE_DOWN)
        assert ask(who=[CARLA]).state is BreakerState.OPEN
    assert probes == [ANNA, BEN, ANNA, BEN]


def test_the_last_probe_that_comes_first_lets_the_others_go_first_once() -> None:
    report(PUSH, down(10))
    age(PROBE_EVERY)
    assert ask(who=[ANNA]).state is BreakerState.HALF_OPEN
    ask(who=[BEN])
    age(PROBE_EVERY)
    first = ask(who=[ANNA])
    assert (first.state, first.probe) == (BreakerState.OPEN, ANNA)
    assert dt.timedelta(0) < first.wait <= dt.timedelta(seconds=2)
    assert ask(who=[BEN]).state is BreakerState.HALF_OPEN


def test_the_only_delivery_that_waits_may_be_every_probe() -> None:
    report(PUSH, down(10))
    for _ in range(3):
        age(PROBE_EVERY)
        assert ask(who=[ANNA]).probe == ANNA
        assert ask(who=[ANNA]).state is BreakerState.OPEN


def test_the_last_probe_is_not_kept_waiting_for_others_that_never_come() -> None:
    report(PUSH, down(10))
    age(PROBE_EVERY)
    ask(who=[ANNA])
    ask(who=[BEN])
    age(PROBE_EVERY)
    assert ask(who=[ANNA]).state is BreakerState.OPEN
    assert ask(who=[ANNA]).state is BreakerState.HALF_OPEN


def test_the_urgent_without_another_provider_go_as_probes_at_a_growing_gap() -> None:
    report(PUSH, down(10))
    gaps = []
    for number in range(8):
        waited = 0
        while ask(who=[UUID(int=number)], priority=Priority.P0).state is not BreakerState.HALF_OPEN:
            age(SECOND)
            waited += 1
        gaps.append(waited)
    assert gaps == [1, 2, 4, 8, 8, 8, 8, 8]


@pytest.mark.parametrize(("priority", "is_alone"), [(Priority.P0, False), (Priority.P2, True)])
def test_the_patient_and_those_with_another_provider_are_shed(
    priority: Priority, *, is_alone: bool
) -> None:
    report(PUSH, down(10))
    age(20 * SECOND)
    assert ask(priority=priority, is_alone=is_alone).state is BreakerState.OPEN


def test_of_many_urgent_that_wait_only_some_look_again_each_second() -> None:
    report(PUSH, down(10))
    waits = [ask(priority=Priority.P1, count=500).wait for _ in range(3)]
    apart = dt.timedelta(seconds=500 / LOOKS_PER_SECOND)
    assert [later - earlier for earlier, later in itertools.pairwise(waits)] == [
        pytest.approx(apart, abs=SECOND)
    ] * 2
    age(PROBE_EVERY)
    assert ask(priority=Priority.P1).state is BreakerState.HALF_OPEN
    later = ask(priority=Priority.P1, count=500).wait
    assert later > 2 * apart  # behind those that wait since before the probe


def test_a_backlog_behind_a_breaker_looks_again_at_a_bounded_rate() -> None:
    """2,000 P1 wait, 20 more come each second, for two minutes: a message each, as they look."""
    report(PUSH, down(10))
    due: list[tuple[float, int]] = [(0.0, number) for number in range(2_000)]
    looks, born = 0, 2_000
    for now in range(120):
        due += [(float(now), born + number) for number in range(20)]
        born += 20
        waiting = []
        for at, number in due:
            if at > now:
                waiting.append((at, number))
                continue
            looks += 1
            answer = ask(who=[UUID(int=number)], priority=Priority.P1)
            wait = answer.wait if answer.state is BreakerState.OPEN else 3 * SECOND
            waiting.append((now + wait.total_seconds(), number))
        due = waiting
        age(SECOND)
    assert looks - born <= 120 * (LOOKS_PER_SECOND + 2)


def test_channels_of_one_provider_do_not_know_each_other() -> None:
    report(PUSH, down(10))
    assert ask(SMS).state is BreakerState.CLOSED


def test_it_raises_an_alert_while_it_lasts() -> None:
    report(PUSH, down(10))
    alert = Alert.objects.get()
    assert (alert.kind, alert.subject) == ("breaker_open", "acme push")
    assert alert.detail == "paused: 10 failures in a row"
    age(PROBE_EVERY)
    ask()
    report(PUSH, PROBE_WELL)
    assert not Alert.objects.filter(resolved_at=None).exists()


def test_an_operators_word_wins() -> None:
    report(PUSH, down(10))
    circuit_breakers.force(PUSH.pair, BreakerOverride.CLOSED, by="maria")
    assert ask().state is BreakerState.CLOSED
    assert not breaker_status.of([PUSH])[PUSH].is_open
    circuit_breakers.force(PUSH.pair, BreakerOverride.AUTO, by="maria")
    assert ask().state is BreakerState.OPEN
    assert _kinds() == ["tripped", "forced closed", "back to auto"]
    assert BreakerEvent.objects.order_by("id")[1].detail == "by maria"


def test_how_it_stands_can_be_seen() -> None:
    report(EMAIL, CallStats(accepted=3, rejected=2, unanswered=3, last_failures=3, calls=8))
    report(PUSH, down(10))
    seen = breaker_status.of([PUSH, EMAIL, SMS])
    mail = seen[EMAIL]
    assert (mail.calls, mail.failures, mail.rejected, mail.is_open) == (8, 3, 2, False)
    assert seen[PUSH].is_open
    assert seen[PUSH].why == "10 failures in a row"
    assert (seen[PUSH].calls, seen[PUSH].failures) == (10, 10)  # what it tripped by
    since = seen[PUSH].since
    assert since is not None
    assert abs(since - clock.now()) < dt.timedelta(minutes=1)
    assert not seen[SMS].is_open
    assert seen[PUSH].wait
    age(PROBE_EVERY)
    assert not breaker_status.of([PUSH])[PUSH].wait  # the next delivery is the probe


def test_success_is_told_once_a_second_and_a_failure_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[object] = []

    def listen(*call: object) -> object:
        told.append(call)
        return [[0, 0, 0, b"", b""]]

    monkeypatch.setattr(state, "call", listen)
    for _ in range(100):
        report(PUSH, well())
    assert len(told) == 1
    report(PUSH, down(1))
    assert len(told) == 2


def test_what_success_was_not_told_is_told_with_the_next_failure() -> None:
    for _ in range(79):
        report(EMAIL, well())
    report(EMAIL, down(20))
    assert breaker_status.of([EMAIL])[EMAIL].calls == 99


@pytest.mark.parametrize("channel", Channel)
def test_every_channel_has_its_thresholds(channel: Channel) -> None:
    found = circuit_breakers.thresholds(HealthKey("smtp", channel))
    streak = STREAKS.get(channel)
    assert found.streak == (streak.failures if streak else 0)
    assert found.quiet_streak == 3
