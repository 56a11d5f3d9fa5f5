"""A breaker trips, asks once in a while, and closes: in Redis for all, else in each process."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator

import pytest

from notifications import clock
from notifications.models import Alert, Breaker, BreakerEvent
from notifications.rules.breaker import PROBE_EVERY, THRESHOLDS, Door, Forced, Tally
from notifications.rules.lane import Priority
from notifications.store import breakers, controls, departures, state
from notifications.store.departures import Answer, Wanted
from providers.contract import Channel
from tests.store.ageing import age

PUSH = ("acme", Channel.PUSH)
SMS = ("acme", Channel.SMS)
EMAIL = ("acme", Channel.EMAIL)
WELL = Tally(answered=1)
Wait = Callable[[dt.timedelta], None]


def _down(times: int) -> Tally:
    return Tally(unavailable=times, last_failures=times)


def _silent(times: int) -> Tally:
    return Tally(unanswered=times, last_failures=times)


@pytest.fixture(autouse=True)
def _fresh(db: None) -> Iterator[None]:  # noqa: ARG001 - pytest-django asks for it by name
    state.client().flushdb()
    for each in (breakers, controls, departures):
        each.forget()
    yield
    controls.forget()


@pytest.fixture(params=["in Redis", "in the process"])
def wait(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Wait:
    """Let time pass for breakers. Both places keep the same promises."""
    passed = dt.timedelta(0)
    if request.param == "in the process":

        def away(*_: object) -> object:
            raise state.Away

        real = clock.monotonic
        monkeypatch.setattr(state, "call", away)
        monkeypatch.setattr(state, "get_many", away)
        monkeypatch.setattr(clock, "monotonic", lambda: real() + passed.total_seconds())

        def later(span: dt.timedelta) -> None:
            nonlocal passed
            passed += span

        return later
    return age


def _ask(pair: tuple[str, Channel] = PUSH) -> Answer:
    wanted = Wanted(pair=pair, priority=Priority.P1, count=3, pace=None)
    [answer] = departures.ask([wanted])
    return answer


def _kinds() -> list[str]:
    return [event.kind for event in BreakerEvent.objects.order_by("id")]


@pytest.mark.parametrize(
    ("pair", "tallies"),
    [
        (PUSH, [_down(10)]),
        (PUSH, [_down(4), _silent(6)]),
        (PUSH, [_down(3), WELL, _down(10)]),
        (SMS, [_silent(2), _down(3)]),
        (EMAIL, [Tally(answered=79), _down(21)]),
        (EMAIL, [Tally(answered=49), Tally(unanswered=51, answered=1, last_failures=1)]),
        (EMAIL, [Tally(fault="401")]),
    ],
    ids=repr,
)
@pytest.mark.usefixtures("wait")
def test_it_trips_at_its_threshold_and_not_before(
    pair: tuple[str, Channel], tallies: list[Tally]
) -> None:
    for tally in tallies:
        assert _ask(pair).door is Door.CLOSED
        breakers.report(pair, tally)
    assert _ask(pair).door is Door.OPEN
    assert dt.timedelta(seconds=29) < _ask(pair).wait <= PROBE_EVERY
    assert _kinds() == ["tripped"]


@pytest.mark.parametrize(
    ("pair", "tallies"),
    [
        (PUSH, [_down(9), WELL, _down(9)]),
        (PUSH, [_down(9), Tally(answered=1, unavailable=5, last_failures=5)]),
        (SMS, [_down(4)]),
        (EMAIL, [_down(99)]),
        (EMAIL, [Tally(answered=80), _down(20)]),
        (EMAIL, [Tally(answered=50), _silent(50)]),
        (("hooks", Channel.WEBHOOK), [_down(500), Tally(fault="401")]),
    ],
    ids=repr,
)
@pytest.mark.usefixtures("wait")
def test_it_bears_what_is_below(pair: tuple[str, Channel], tallies: list[Tally]) -> None:
    for tally in tallies:
        breakers.report(pair, tally)
    assert _ask(pair).door is Door.CLOSED
    assert _kinds() == []


def test_failures_too_far_apart_are_no_row(wait: Wait) -> None:
    breakers.report(PUSH, _down(9))
    wait(dt.timedelta(seconds=6))
    breakers.report(PUSH, _down(9))
    assert _ask().door is Door.CLOSED
    breakers.report(PUSH, _down(1))
    assert _ask().door is Door.OPEN


def test_failures_of_ten_minutes_ago_do_not_count(wait: Wait) -> None:
    breakers.report(EMAIL, _down(99))
    wait(dt.timedelta(minutes=10))
    breakers.report(EMAIL, Tally(answered=90))
    breakers.report(EMAIL, _down(10))
    assert _ask(EMAIL).door is Door.CLOSED


def test_one_probe_goes_and_its_success_closes(wait: Wait) -> None:
    breakers.report(PUSH, _down(10))
    wait(PROBE_EVERY)
    assert _ask().door is Door.PROBE
    held = _ask()
    assert held.door is Door.OPEN
    assert held.wait <= dt.timedelta(seconds=3)  # the probe's answer, not the next probe
    breakers.report(PUSH, WELL)
    assert _ask().door is Door.CLOSED
    assert _kinds() == ["tripped", "probed", "closed"]
    row = Breaker.objects.get()
    assert (row.trips, row.probes, row.closes) == (1, 1, 1)


def test_a_probe_that_fails_leaves_it_open_till_the_next(wait: Wait) -> None:
    breakers.report(PUSH, _down(10))
    wait(PROBE_EVERY)
    assert _ask().door is Door.PROBE
    breakers.report(PUSH, _down(1))
    assert _ask().door is Door.OPEN
    assert _ask().wait > dt.timedelta(seconds=25)
    wait(PROBE_EVERY)
    assert _ask().door is Door.PROBE


def test_a_probe_that_is_never_heard_of_is_followed_by_another(wait: Wait) -> None:
    breakers.report(PUSH, _down(10))
    wait(PROBE_EVERY)
    assert _ask().door is Door.PROBE
    wait(PROBE_EVERY)
    assert _ask().door is Door.PROBE


def test_a_late_success_of_before_the_trip_closes_nothing(wait: Wait) -> None:
    breakers.report(PUSH, _down(10))
    wait(dt.timedelta(seconds=2))
    breakers.report(PUSH, Tally(answered=50))
    assert _ask().door is Door.OPEN


@pytest.mark.usefixtures("wait")
def test_channels_of_one_provider_do_not_know_each_other() -> None:
    breakers.report(PUSH, _down(10))
    assert _ask(SMS).door is Door.CLOSED


def test_it_raises_an_alert_while_it_lasts(wait: Wait) -> None:
    breakers.report(PUSH, _down(10))
    alert = Alert.objects.get()
    assert (alert.kind, alert.subject) == ("breaker_open", "acme push")
    assert alert.detail == "it is given a rest: 10 failures in a row"
    wait(PROBE_EVERY)
    _ask()
    breakers.report(PUSH, WELL)
    assert not Alert.objects.filter(resolved_at=None).exists()


@pytest.mark.parametrize(
    ("forced", "door"), [(Forced.OPEN, Door.OPEN), (Forced.CLOSED, Door.CLOSED)]
)
@pytest.mark.usefixtures("wait")
def test_an_operators_word_wins(forced: Forced, door: Door) -> None:
    breakers.report(PUSH, _down(10))
    breakers.force(SMS, Forced.OPEN, by="maria")
    breakers.force(PUSH, forced, by="maria")
    answers = departures.ask([
        Wanted(pair=pair, priority=Priority.P1, count=1, pace=None) for pair in (SMS, EMAIL, PUSH)
    ])
    assert [each.door for each in answers] == [Door.OPEN, Door.CLOSED, door]
    breakers.force(SMS, Forced.AUTO, by="maria")
    assert _ask(SMS).door is Door.CLOSED
    assert _kinds() == ["tripped", "forced open", f"forced {forced}", "back to auto"]
    assert BreakerEvent.objects.order_by("id")[1].detail == "by maria"


def test_how_it_stands_can_be_seen(wait: Wait) -> None:
    breakers.report(EMAIL, Tally(answered=5, unanswered=3, last_failures=3))
    breakers.report(PUSH, Tally(fault="401"))
    seen = breakers.standings([PUSH, EMAIL, SMS])
    assert (seen[EMAIL].calls, seen[EMAIL].failures, seen[EMAIL].is_open) == (8, 3, False)
    assert seen[PUSH].is_open
    assert seen[PUSH].why == "401"
    since = seen[PUSH].since
    assert since is not None
    assert abs(since - clock.now()) < dt.timedelta(seconds=2)
    assert not seen[SMS].is_open
    assert seen[PUSH].wait
    wait(PROBE_EVERY)
    assert not breakers.standings([PUSH])[PUSH].wait  # a probe may go


def test_success_is_told_once_a_second_and_a_failure_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[object] = []

    def listen(*call: object) -> object:
        told.append(call)
        return [0, b""]

    monkeypatch.setattr(state, "call", listen)
    for _ in range(100):
        breakers.report(PUSH, WELL)
    assert len(told) == 1
    breakers.report(PUSH, _down(1))
    assert len(told) == 2


def test_what_success_was_not_told_is_told_with_the_next_failure() -> None:
    for _ in range(79):
        breakers.report(EMAIL, WELL)
    breakers.report(EMAIL, _down(20))
    assert breakers.standings([EMAIL])[EMAIL].calls == 99


def test_every_channel_has_its_thresholds() -> None:
    assert set(THRESHOLDS) == set(Channel)
