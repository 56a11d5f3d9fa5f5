"""The gate that hands out permits for provider calls."""

from __future__ import annotations

import datetime as dt
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.test import Client

from notifications.core import clock
from notifications.core.delivery import in_flight
from notifications.core.delivery.in_flight import PermitPool, Place
from notifications.core.rules.rate_limits.concurrency import Call, Ending, Limit
from notifications.core.store.redis import metric_counters
from providers.contract import (
    Accepted,
    Misconfigured,
    NotStarted,
    Outcome,
    Rejected,
    Result,
    Throttled,
    Unanswered,
    Unavailable,
)

LONG = 30.0
"""Seconds that no test waits."""


def _gate(permits: int) -> PermitPool:
    return PermitPool(Limit(start=permits, ceiling=permits))


def _until(condition: Callable[[], bool]) -> None:
    """Wait for another thread; ends the test when it never comes."""
    pause = threading.Event()
    for _ in range(3_000):
        if condition():
            return
        pause.wait(0.01)
    pytest.fail("it never came to that")


def test_it_grants_what_is_free_and_no_more() -> None:
    gate = _gate(20)
    assert gate.acquire(8, urgent=False, timeout=0) == 8
    assert gate.acquire(50, urgent=False, timeout=0) == 12
    assert gate.acquire(50, urgent=False, timeout=0) == 0
    gate.release(20, [])
    assert gate.in_flight == 0
    assert gate.acquire(0, urgent=True, timeout=LONG) == 0


def test_an_urgent_caller_goes_over_the_limit_by_an_eighth() -> None:
    gate = _gate(16)
    assert gate.acquire(16, urgent=False, timeout=0) == 16
    assert gate.acquire(5, urgent=True, timeout=0) == 2
    assert gate.acquire(5, urgent=True, timeout=0) == 0
    small = _gate(1)
    assert small.acquire(1, urgent=False, timeout=0) == 1
    assert small.acquire(1, urgent=True, timeout=0) == 1


def test_freed_permits_go_to_the_urgent_first() -> None:
    gate = _gate(8)
    assert gate.acquire(8, urgent=False, timeout=0) == 8
    assert gate.acquire(1, urgent=True, timeout=0) == 1
    with ThreadPoolExecutor() as threads:
        patient = threads.submit(gate.acquire, 8, urgent=False, timeout=LONG)
        _until(lambda: len(gate._patient) == 1)
        urgent = threads.submit(gate.acquire, 2, urgent=True, timeout=LONG)
        _until(lambda: len(gate._urgent) == 1)
        gate.release(3, [])
        assert urgent.result(LONG) == 2
        assert not patient.done()
        gate.release(6, [])
        assert patient.result(LONG) == 6


def test_a_task_that_asks_again_keeps_its_place() -> None:
    gate, place = _gate(1), Place()
    assert gate.acquire(1, urgent=False, timeout=0) == 1
    assert gate.acquire(1, urgent=False, timeout=0, place=place) == 0
    with ThreadPoolExecutor() as threads:
        later = threads.submit(gate.acquire, 1, urgent=False, timeout=LONG)
        _until(lambda: len(gate._patient) == 1)
        again = threads.submit(gate.acquire, 1, urgent=False, timeout=LONG, place=place)
        _until(lambda: len(gate._patient) == 2)
        gate.release(1, [])
        assert again.result(LONG) == 1
        assert not later.done()
        gate.release(1, [])
        assert later.result(LONG) == 1
    assert place.since is None  # the next request is a new one


def test_a_patient_caller_waits_for_a_wave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_flight, "_WAVE_SECONDS", LONG)
    gate = _gate(40)
    assert gate.acquire(40, urgent=False, timeout=0) == 40
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(gate.acquire, 100, urgent=False, timeout=LONG)
        _until(lambda: len(gate._patient) == 1)
        gate.release(9, [])
        assert not waiting.done()
        gate.release(1, [])
        assert waiting.result(LONG) == 10


def test_four_waves_make_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_flight, "_WAVE_SECONDS", LONG)
    gate = _gate(10)
    assert gate.acquire(10, urgent=False, timeout=0) == 10
    gate.release(2, [])
    assert gate.acquire(9, urgent=False, timeout=0) == 0
    gate.release(1, [])
    assert gate.acquire(9, urgent=False, timeout=0) == 3


def test_a_patient_caller_does_not_wait_for_a_wave_for_ever() -> None:
    gate = _gate(40)
    assert gate.acquire(40, urgent=False, timeout=0) == 40
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(gate.acquire, 100, urgent=False, timeout=LONG)
        _until(lambda: len(gate._patient) == 1)
        gate.release(3, [])
        assert waiting.result(LONG) == 3


def test_a_caller_that_asks_again_and_again_gets_what_is_free_too() -> None:
    """As a task does that has calls in flight: it looks for results between two questions."""
    gate = _gate(40)
    assert gate.acquire(40, urgent=False, timeout=0) == 40
    gate.release(3, [])
    _until(lambda: gate.acquire(100, urgent=False, timeout=0) == 3)
    assert gate.in_flight == 40


def test_the_second_in_line_gets_its_turn_when_the_first_gives_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = _gate(4)
    assert gate.acquire(4, urgent=False, timeout=0) == 4
    with ThreadPoolExecutor() as threads:
        first = threads.submit(gate.acquire, 4, urgent=False, timeout=LONG)
        _until(lambda: len(gate._patient) == 1)
        second = threads.submit(gate.acquire, 2, urgent=False, timeout=9 * LONG)
        _until(lambda: len(gate._patient) == 2)
        later = clock.monotonic() + LONG
        monkeypatch.setattr(clock, "monotonic", lambda: later)
        with gate._lock:
            gate._patient[0].woken.notify()
        assert first.result(LONG) == 0
        gate.release(1, [])
        assert second.result(LONG) == 1


def test_many_threads_share_it_and_lose_no_permit() -> None:
    gate = _gate(30)
    granted: Counter[bool] = Counter()
    most = 0

    def work(*, urgent: bool) -> None:
        nonlocal most
        for _ in range(200):
            permits = gate.acquire(7, urgent=urgent, timeout=LONG)
            granted[urgent] += permits > 0
            most = max(most, gate.in_flight)
            gate.release(permits, [Call(Ending.ANSWERED, 0.001)] * permits)

    with ThreadPoolExecutor(8) as threads:
        done: list[Future[None]] = [threads.submit(work, urgent=n % 4 == 0) for n in range(8)]
        for each in done:
            each.result(2 * LONG)
    assert gate.in_flight == 0
    assert granted == {True: 400, False: 1_200}
    assert most <= 33


@pytest.mark.parametrize(
    ("outcome", "ending"),
    [
        (Accepted(), Ending.ANSWERED),
        (Rejected(), Ending.ANSWERED),
        (Throttled(), Ending.THROTTLED),
        (Unanswered(), Ending.TIMED_OUT),
        (Unavailable(), Ending.NOTHING),
        (Misconfigured(), Ending.NOTHING),
        (NotStarted(), Ending.NOTHING),
    ],
)
def test_each_outcome_says_what_it_can_of_the_load(outcome: Outcome, ending: Ending) -> None:
    result = Result(delivery_id=uuid4(), outcome=outcome, latency=dt.timedelta(seconds=2))
    assert in_flight.load_signals([result]) == [Call(ending, 2.0)]


def test_a_delay_of_our_own_is_no_time_of_the_provider() -> None:
    total, own = dt.timedelta(seconds=2), dt.timedelta(seconds=1.5)
    result = Result(delivery_id=uuid4(), outcome=Accepted(), latency=total, own_delay=own)
    assert in_flight.load_signals([result]) == [Call(Ending.ANSWERED, 0.5, own_delay=1.5)]


def test_a_message_refused_before_any_call_says_nothing() -> None:
    result = Result(delivery_id=uuid4(), outcome=Rejected(), latency=dt.timedelta(0))
    assert in_flight.load_signals([result])[0][0] is Ending.NOTHING


@pytest.mark.django_db
def test_limit_and_calls_in_flight_of_all_processes_stand_in_metrics(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    metric_counters.note_in_flight("fcm", limit=40, in_flight=31)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("os.getpid", lambda: 7)
        metric_counters.note_in_flight("fcm", limit=2, in_flight=1)
    with monkeypatch.context() as slowly:  # a first request takes seconds on a busy machine
        slowly.setattr(metric_counters, "_FRESH_SECONDS", 600)
        text = Client().get("/metrics").content.decode()
    assert 'notifications_calls_limit{provider="fcm"} 42.0' in text
    assert 'notifications_calls_in_flight{provider="fcm"} 32.0' in text
    monkeypatch.setattr(
        metric_counters, "_FRESH_SECONDS", -2
    )  # they have told nothing for too long
    assert metric_counters.in_flight() == {}
    monkeypatch.undo()
    assert metric_counters.in_flight() == {}  # and they are forgotten
