"""Only calls that begin are marked, and no answer that came is ever lost."""

from __future__ import annotations

import datetime as dt
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from notifications import clock, stopping
from notifications.delivery import deliver, in_flight, settle
from notifications.delivery.withholding import CallFailed
from notifications.models import Attempt, Delivery, Notification, Preference, Recipient
from notifications.rules.lane import PACE, Priority
from notifications.rules.states import Status
from notifications.rules.suppression import Cause
from notifications.store.postgres import claims, suppressions
from notifications.store.postgres.suppressions import SuppressionEntry
from notifications.store.redis import sent_ledger, state
from providers.contract import (
    Accepted,
    Channel,
    Message,
    Misconfigured,
    NotStarted,
    Outcome,
    Rejected,
    Result,
    Unanswered,
)
from tests.journey import Accept, status_and_reason, statuses, take_rows
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
    start = clock.steady()

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        monkeypatch.setattr(clock, "steady", lambda: start + 31)  # also while the host sleeps
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
    renew, steady = claims.renew, clock.steady
    called: list[Sequence[Message]] = []

    def renew_slowly(ids: Sequence[UUID], **named: Any) -> dict[UUID, int]:  # noqa: ANN401 - as the function
        calls = renew(ids, **named)
        lease = PACE[Priority.P0].lease.total_seconds()
        monkeypatch.setattr(clock, "steady", lambda: steady() + lease)
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


def _with_calls_of(
    seconds: float, monkeypatch: pytest.MonkeyPatch, *, beside: Callable[[], object] = bool
) -> Callable[[Sequence[Message]], Iterator[tuple[Message, Outcome]]]:
    """Return accepting calls, each of which takes so long by the steady clock."""
    steady = clock.steady
    passed: list[float] = []

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        passed.append(seconds)
        monkeypatch.setattr(clock, "steady", lambda: steady() + sum(passed))
        beside()
        connection.close()
        return ((each, Accepted()) for each in batch)

    return answer


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("priority", ["P1", "P2"])
def test_no_call_begins_after_the_time_to_live(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch, priority: str
) -> None:
    rows = take_rows(take, 6, ttl_seconds=300, priority=priority)
    scripted.concurrency = 1  # two calls at once if they are urgent
    Notification.objects.update(expires_at=clock.now() + dt.timedelta(seconds=3))
    scripted.answer = _with_calls_of(1.9, monkeypatch)
    deliver.deliver(rows)
    ends = sorted(status_and_reason(each) for each in rows)
    sent = 4 if priority == "P1" else 2
    assert ends == [(Status.SENT, "")] * sent + [(Status.EXPIRED, "ttl_passed")] * (6 - sent)
    assert Attempt.objects.count() == sent


def _write_stop() -> None:
    entry = SuppressionEntry(
        channel=Channel.EMAIL, address="maria@example.com", cause=Cause.STOP_KEYWORD
    )
    suppressions.add([entry], by="tests")


def _opt_out() -> None:
    wish = {"categories_off": ["social"]}
    Preference.objects.update_or_create(recipient=Recipient.objects.get(), defaults=wish)


def _begin_do_not_disturb() -> None:
    wish = {"do_not_disturb_until": clock.now() + dt.timedelta(hours=2)}
    Preference.objects.update_or_create(recipient=Recipient.objects.get(), defaults=wish)


def _cancel() -> None:
    Notification.objects.update(cancelled_at=clock.now())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("change", "seconds", "end"),
    [
        (_write_stop, 1.5, (Status.SUPPRESSED, "suppression_list")),
        (_opt_out, 1.5, (Status.SUPPRESSED, "opted_out")),
        (_begin_do_not_disturb, 1.5, (Status.SCHEDULED, "do_not_disturb")),
        (_cancel, 1.5, (Status.CANCELLED, "cancelled")),
        (_opt_out, 0.01, (Status.SENT, "")),  # no query for a call that follows at once
    ],
)
def test_what_a_recipient_chose_since_the_claim_stops_a_call_that_begins_a_second_later(
    scripted: Scripted,
    take: Accept,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[], None],
    seconds: float,
    end: tuple[Status, str],
) -> None:
    rows = take_rows(take, 2)
    scripted.concurrency = 1
    scripted.answer = _with_calls_of(seconds, monkeypatch, beside=change)
    deliver.deliver(rows)
    assert statuses(rows[:1]) == [Status.SENT]
    assert status_and_reason(rows[1]) == end


@pytest.mark.usefixtures("scripted")
def test_no_call_of_a_wave_begins_after_a_time_to_live_that_ended_during_the_renewal(
    take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 2, ttl_seconds=300)
    Notification.objects.update(expires_at=clock.now() + dt.timedelta(seconds=5))
    renew, steady = claims.renew, clock.steady

    def renew_before_a_suspension(ids: Sequence[UUID], **named: Any) -> dict[UUID, int]:  # noqa: ANN401 - as the function
        calls = renew(ids, **named)
        monkeypatch.setattr(clock, "steady", lambda: steady() + 30)
        return calls

    monkeypatch.setattr(claims, "renew", renew_before_a_suspension)
    [group] = deliver.deliver(rows)
    assert set(group.delivery_ids) == set(rows)
    assert not Attempt.objects.exists()
