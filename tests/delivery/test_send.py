"""Only calls that begin are marked, and no answer that came is ever lost."""

from __future__ import annotations

import datetime as dt
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from notifications import clock, stopping
from notifications.delivery import deliver, in_flight, settle
from notifications.delivery.withholding import CallFailed
from notifications.models import Attempt, Delivery
from notifications.rules.lane import PACE, Priority
from notifications.rules.states import Status
from notifications.store.postgres import claims
from notifications.store.redis import sent_ledger, state
from providers.contract import (
    Accepted,
    Message,
    Misconfigured,
    NotStarted,
    Outcome,
    Rejected,
    Result,
    Unanswered,
)
from tests.journey import Accept, statuses, take_rows
from tests.vendors import Scripted


@contextmanager
def _the_task_ends() -> Iterator[None]:
    usual = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("the task waits for ever"))
    signal.alarm(20)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, usual)


@pytest.mark.django_db(transaction=True)
def test_one_call_that_hangs_in_each_wave_does_not_stop_the_task(
    scripted: Scripted, take: Accept
) -> None:
    scripted.concurrency = 8
    rows = take_rows(take, 36)
    waves: list[Sequence[Message]] = []
    fifth = threading.Event()

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        waves.append(batch)
        if len(waves) == 5:
            fifth.set()
        *quick, hung = batch
        yield from ((each, Accepted()) for each in quick)
        yield hung, Accepted() if fifth.wait(timeout=20) else Unanswered()

    scripted.answer = answer
    deliver.deliver(rows)
    assert statuses(rows) == [Status.SENT] * 36


@pytest.mark.django_db(transaction=True)
def test_only_calls_that_begin_are_marked_and_the_rest_goes_back_unspent_at_a_stop(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 10)
    scripted.concurrency = 2
    marked: list[int] = []

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        marked.append(Delivery.objects.filter(call_started_at__isnull=False).count())
        connection.close()
        monkeypatch.setattr(stopping, "is_stopping", lambda: True)
        for each in batch:
            yield each, Accepted()

    scripted.answer = answer
    assert deliver.deliver(rows) == []
    assert marked == [2]
    assert statuses(rows) == [Status.SENT] * 2 + [Status.QUEUED] * 8
    back = Delivery.objects.filter(status=Status.QUEUED)
    assert {(each.attempts, each.claims, each.reason) for each in back} == {
        (0, 0, "claim_returned")
    }
    assert all(each.due_at and each.due_at <= clock.now() for each in back)


def test_a_task_whose_time_is_over_returns_the_rest_and_publishes_it_again(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 3)
    scripted.concurrency = 1
    start = clock.monotonic()

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        monkeypatch.setattr(clock, "monotonic", lambda: start + 31)
        for each in batch:
            yield each, Accepted()

    scripted.answer = answer
    [group] = deliver.deliver(rows)
    assert statuses(rows) == [Status.SENT, Status.QUEUED, Status.QUEUED]
    assert (group.delivery_ids, group.countdown) == (rows[1:], dt.timedelta(0))


def test_a_call_that_did_not_begin_leaves_no_attempt_and_is_published_at_once(
    scripted: Scripted, take: Accept
) -> None:
    rows = take_rows(take, 2)
    scripted.answer = lambda batch: ((each, NotStarted()) for each in batch)
    [group] = deliver.deliver(rows)
    assert set(group.delivery_ids) == set(rows)
    assert group.countdown == dt.timedelta(0)
    assert not Attempt.objects.exists()
    for row in Delivery.objects.filter(id__in=rows):
        assert (row.status, row.attempts - row.attempts_before) == (Status.QUEUED, 0)


def test_an_adapter_that_raises_before_its_first_result_ends_its_task(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 2)

    def refuse(*_arguments: object, **_named: object) -> Iterator[Result]:
        raise RuntimeError("a bug of an adapter")

    monkeypatch.setattr(scripted, "send", refuse)
    with (
        _the_task_ends(),
        pytest.raises(CallFailed, match=r"^RuntimeError in .*test_send.py:\d+ refuse"),
    ):
        deliver.deliver(rows)
    assert statuses(rows) == [Status.UNKNOWN] * 2


def test_a_wave_without_a_thread_makes_no_call(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 2)

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch, _the_task_ends():
        patch.setattr(threading.Thread, "start", refuse)
        [group] = deliver.deliver(rows)
    assert set(group.delivery_ids) == set(rows)
    assert not Attempt.objects.exists()
    assert in_flight.acquire(scripted, 1, urgent=False, timeout=0.0) == 1
    in_flight.release(scripted, 1, ())
    deliver.deliver(rows)
    assert statuses(rows) == [Status.SENT] * 2


def test_no_call_begins_that_could_outlast_its_lease(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 2, priority="P0")
    renew, monotonic = claims.renew, clock.monotonic
    called: list[Sequence[Message]] = []

    def renew_slowly(ids: Sequence[UUID], **named: Any) -> dict[UUID, int]:  # noqa: ANN401 - as the function
        calls = renew(ids, **named)
        lease = PACE[Priority.P0].lease.total_seconds()
        monkeypatch.setattr(clock, "monotonic", lambda: monotonic() + lease)
        return calls

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        called.append(batch)
        return ((each, Accepted()) for each in batch)

    scripted.answer = answer
    monkeypatch.setattr(claims, "renew", renew_slowly)
    [group] = deliver.deliver(rows)
    assert (set(group.delivery_ids), called) == (set(rows), [])
    assert statuses(rows) == [Status.QUEUED] * 2
    assert not Attempt.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_settled_call_leaves_no_entry_in_the_ledger(scripted: Scripted, take: Accept) -> None:
    del scripted  # accepts
    rows = take_rows(take, 3)
    deliver.deliver(rows)
    assert statuses(rows) == [Status.SENT] * 3
    assert state.client().keys("sent:*") == []


@pytest.mark.django_db(transaction=True)
def test_the_verdict_of_the_breaker_about_refusals_is_in_the_ledger_before_the_settle(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 30)
    scripted.answer = lambda batch: ((each, Rejected(code="bad")) for each in batch)

    def die(*_arguments: object, **_named: object) -> None:
        raise RuntimeError("the worker is killed")

    with monkeypatch.context() as patch:
        patch.setattr(settle, "settle", die)
        with pytest.raises(RuntimeError):
            deliver.deliver(rows)
    entries = sent_ledger.load(dict.fromkeys(rows, 1))
    assert all(each.is_judged for each in entries.values())
    assert {type(each.outcome) for each in entries.values()} == {Rejected, Misconfigured}
