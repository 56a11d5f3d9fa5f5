"""Only calls that begin are marked, and no answer that came is ever lost."""

from __future__ import annotations

import datetime as dt
import select
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import InternalError, connection

from notifications.core import clock, conf, stopping
from notifications.core.delivery import (
    call_metrics,
    deliver,
    failover,
    in_flight,
    provider_health,
    send,
    settle,
)
from notifications.core.delivery.withholding import CallFailed
from notifications.core.models import Attempt, Delivery, ProviderRoute
from notifications.core.rules.lane import PACE, Priority
from notifications.core.rules.rate_limits.concurrency import Limit
from notifications.core.rules.states import Status
from notifications.core.store.postgres import attempts, claims
from notifications.core.store.redis import sent_ledger, state
from notifyproj.devstack.demo.environment import until
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
from tests.journey import Accept, AddVendor, statuses, take_rows
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
        monkeypatch.setattr(clock, "steady", lambda: start + 31)
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


@pytest.mark.django_db(transaction=True)
def test_a_result_that_belongs_to_no_call_costs_no_other_answer_and_is_an_error_of_the_task(
    scripted: Scripted, take: Accept
) -> None:
    rows = take_rows(take, 3)

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        yield batch[0], Accepted()
        yield replace(batch[0], delivery_id=uuid4()), Accepted()
        for each in batch[1:]:
            yield each, Accepted()

    scripted.answer = answer
    with pytest.raises(CallFailed, match="KeyError"):
        deliver.deliver(rows)
    assert statuses(rows) == [Status.SENT] * 3


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

    def renew_slowly(ids: Sequence[UUID], **named: Any) -> list[int | None]:  # noqa: ANN401 - as the function
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
        # All answers are of one wave, and are judged together.
        patch.setattr(send, "_SETTLE_AFTER", 60.0)
        patch.setattr(in_flight, "Limit", lambda **_named: Limit(start=len(rows)))
        patch.setattr(settle, "settle", die)
        with pytest.raises(RuntimeError):
            deliver.deliver(rows)
    entries = sent_ledger.load(dict.fromkeys(rows, 1))
    assert all(each.is_judged for each in entries.values())
    assert {type(each.outcome) for each in entries.values()} == {Rejected, Misconfigured}


@pytest.mark.django_db(transaction=True)
def test_answers_are_in_the_ledger_while_the_settle_of_earlier_ones_waits_for_a_lock(
    scripted: Scripted, take: Accept
) -> None:
    rows = take_rows(take, 40)
    first_is_out, locked, noted = threading.Event(), threading.Event(), threading.Event()

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        first, *others = batch
        yield first, Accepted(message_id="m")
        first_is_out.set()
        locked.wait(20)
        yield from ((each, Accepted(message_id="m")) for each in others)
        noted.wait(60)  # a settle after the lock deletes entries

    scripted.answer = answer
    with psycopg.connect(_database_url()) as link:
        link.execute("SET lock_timeout = 0")
        link.execute("LOCK TABLE attempt IN ACCESS EXCLUSIVE MODE")
        task = threading.Thread(target=_deliver, args=[rows])
        task.start()
        assert first_is_out.wait(20)
        locked.set()
        until(lambda: len(_noted(rows)) == 40, what="all answers are in the ledger")
        noted.set()
        link.rollback()
    task.join(60)
    assert statuses(rows) == [Status.SENT] * 40


def _deliver(rows: Sequence[UUID]) -> None:
    try:
        deliver.deliver(rows)
    finally:
        connection.close()


def _noted(rows: Sequence[UUID]) -> set[UUID]:
    return set(sent_ledger.load(dict.fromkeys(rows, 1)))


def _database_url() -> str:
    given = connection.get_connection_params()
    named = {name: given[name] for name in ("host", "port", "user", "password", "dbname")}
    return psycopg.conninfo.make_conninfo(**named)


@pytest.mark.django_db(transaction=True)
def test_a_state_that_hangs_delays_an_answer_by_its_timeout_and_stops_no_wave(
    scripted: Scripted,
    take: Accept,
    monkeypatch: pytest.MonkeyPatch,
    silent_server: str,
) -> None:
    del scripted  # accepts
    rows = take_rows(take, 5)
    silent = replace(conf.current(), state_url=silent_server)
    monkeypatch.setattr(conf, "current", lambda: silent)
    state.forget()
    with _the_task_ends():
        deliver.deliver(rows)
    assert statuses(rows) == [Status.SENT] * 5


@pytest.fixture
def silent_server() -> Iterator[str]:
    """Return the URL of a server that takes connections and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"
        state.forget()


@pytest.mark.parametrize("step", [(provider_health, "record"), (failover, "fail_over")])
def test_an_error_beside_the_settle_loses_no_answer(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch, step: tuple[Any, str]
) -> None:
    rows = take_rows(take, 3)
    scripted.answer = lambda batch: ((each, Accepted(message_id="m")) for each in batch)

    def fail(*_arguments: object, **_named: object) -> None:
        raise InternalError("a bug")

    monkeypatch.setattr(*step, fail)
    with pytest.raises(InternalError):
        deliver.deliver(rows)
    assert statuses(rows) == [Status.SENT] * 3


def test_an_exporter_that_raises_costs_no_answer_and_no_permit(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 3)
    scripted.concurrency = 1

    def fail(*_arguments: object, **_named: object) -> None:
        raise RuntimeError("no collector")

    monkeypatch.setattr(call_metrics, "record_spans", fail)
    deliver.deliver(rows)
    assert statuses(rows) == [Status.SENT] * 3
    assert in_flight.acquire(scripted, 1, urgent=False, timeout=0.0) == 1


def test_a_refusal_that_could_not_be_passed_on_is_retried(
    scripted: Scripted, add_vendor: AddVendor, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_vendor("second")
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="second", rank=2)
    rows = take_rows(take, 1, priority="P0")
    refused = Rejected(code="region", another_provider_may_accept=True)
    scripted.answer = lambda batch: ((each, refused) for each in batch)

    def fail(*_arguments: object, **_named: object) -> None:
        raise InternalError("another bug")

    monkeypatch.setattr(failover, "fail_over", fail)
    with pytest.raises(InternalError):
        deliver.deliver(rows)
    assert statuses(rows) == [Status.RETRYING]


@pytest.mark.django_db(transaction=True)
def test_an_outcome_survives_the_end_of_an_idle_transaction(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    [row] = take_rows(take, 1)
    scripted.answer = lambda batch: ((each, Accepted(message_id="m")) for each in batch)
    record = attempts.record
    ended: list[bool] = []

    def record_late(*arguments: Any, **named: Any) -> None:  # noqa: ANN401 - as the function
        if not ended:
            ended.append(True)
            with connection.cursor() as running:
                running.execute("SET idle_in_transaction_session_timeout = '10ms'")
                link = running.connection
            until(lambda: _is_ended(link), what="Postgres has ended the session")
        record(*arguments, **named)

    monkeypatch.setattr(attempts, "record", record_late)
    deliver.deliver([row])
    assert (statuses([row]), ended) == ([Status.SENT], [True])


def _is_ended(link: Any) -> bool:  # noqa: ANN401 - psycopg's
    return bool(select.select([link.fileno()], [], [], 0.01)[0])
