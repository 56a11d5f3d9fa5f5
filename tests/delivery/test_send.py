"""Only calls that begin are marked, and no answer that came is ever lost."""

from __future__ import annotations

import datetime as dt
import signal
import threading
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection
from django.db.models import F

from notifications import clock, stopping
from notifications.delivery import deliver, rescue, settle
from notifications.delivery.batch import Batch
from notifications.delivery.withholding import CallFailed
from notifications.feedback import delivery_receipts
from notifications.models import Attempt, DeadLetter, Delivery
from notifications.operations import replay
from notifications.rules.dead_letter_filter import LetterFilter
from notifications.rules.states import Status
from notifications.store.postgres import attempts, claims
from providers.contract import (
    Accepted,
    Message,
    NotStarted,
    Outcome,
    Provider,
    Receipt,
    ReceiptKind,
    Result,
    Throttled,
    Unanswered,
)
from tests.journey import Accept, deliveries_of
from tests.vendors import Scripted


def _rows(take: Accept, count: int, **fields: object) -> list[UUID]:
    # In the order of a claim: ids of one millisecond are in no order of their own.
    return sorted(deliveries_of(take(**fields))[0].id for _ in range(count))


def _statuses(ids: Sequence[UUID]) -> list[Status]:
    found = dict(Delivery.objects.filter(id__in=ids).values_list("id", "status"))
    return [Status(found[each]) for each in ids]


def _lapse(delivery_id: UUID) -> dict[str, Any]:
    """Let a lease run out; returns the row as the sweep reads it."""
    past = clock.now() - dt.timedelta(minutes=5)
    Delivery.objects.filter(id=delivery_id).update(due_at=past)
    [columns] = Delivery.objects.filter(id=delivery_id).values()
    return {**columns, "retry_preset": ""}


def _break_connections() -> None:
    """As a restart or a failover of Postgres does."""
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as own:
        own.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.mark.django_db(transaction=True)
def test_answers_survive_a_postgres_that_drops_its_connections(
    scripted: Scripted, take: Accept
) -> None:
    rows = _rows(take, 20)

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        half = len(batch) // 2
        for each in batch[:half]:
            yield each, Throttled(code="429")
        _break_connections()
        for each in batch[half:]:
            yield each, Accepted(message_id=f"id-{each.delivery_id}")

    scripted.answer = answer
    deliver.deliver(rows)
    assert sorted(_statuses(rows)) == [Status.RETRYING] * 10 + [Status.SENT] * 10


@pytest.mark.django_db(transaction=True)
def test_one_call_that_hangs_in_each_wave_does_not_stop_the_task(
    scripted: Scripted, take: Accept
) -> None:
    scripted.concurrency = 8
    rows = _rows(take, 36)
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
    assert _statuses(rows) == [Status.SENT] * 36


@pytest.mark.django_db(transaction=True)
def test_only_calls_that_begin_are_marked_and_the_rest_goes_back_unspent_at_a_stop(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _rows(take, 10)
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
    assert _statuses(rows) == [Status.SENT] * 2 + [Status.QUEUED] * 8
    back = Delivery.objects.filter(status=Status.QUEUED)
    assert {(each.attempts, each.claims, each.reason) for each in back} == {
        (0, 0, "claim_returned")
    }
    assert all(each.due_at and each.due_at <= clock.now() for each in back)


def test_a_task_whose_time_is_over_returns_the_rest_and_publishes_it_again(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _rows(take, 3)
    scripted.concurrency = 1
    start = clock.monotonic()

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        monkeypatch.setattr(clock, "monotonic", lambda: start + 31)
        for each in batch:
            yield each, Accepted()

    scripted.answer = answer
    [group] = deliver.deliver(rows)
    assert _statuses(rows) == [Status.SENT, Status.QUEUED, Status.QUEUED]
    assert (group.delivery_ids, group.countdown) == (rows[1:], dt.timedelta(0))


def test_a_call_that_did_not_begin_leaves_no_attempt_and_is_published_at_once(
    scripted: Scripted, take: Accept
) -> None:
    rows = _rows(take, 2)
    scripted.answer = lambda batch: ((each, NotStarted()) for each in batch)
    [group] = deliver.deliver(rows)
    assert set(group.delivery_ids) == set(rows)
    assert group.countdown == dt.timedelta(0)
    assert not Attempt.objects.exists()
    for row in Delivery.objects.filter(id__in=rows):
        assert (row.status, row.attempts - row.attempts_before) == (Status.QUEUED, 0)


def test_an_answer_is_settled_while_another_call_hangs(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _rows(take, 2)
    is_settled = threading.Event()
    write = settle.settle

    def settle_and_tell(batch: Batch, pairs: Sequence[settle.Pair], *, provider: Provider) -> None:
        write(batch, pairs, provider=provider)
        is_settled.set()

    seen: list[bool] = []

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        yield batch[0], Accepted()
        seen.append(is_settled.wait(timeout=20))
        yield batch[1], Accepted()

    monkeypatch.setattr(settle, "settle", settle_and_tell)
    scripted.answer = answer
    deliver.deliver(rows)
    assert seen == [True]
    assert _statuses(rows) == [Status.SENT] * 2


def test_an_outcome_that_cannot_be_written_does_not_take_the_others_with_it(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _rows(take, 5)
    record = attempts.record

    def broken(calls: Sequence[attempts.AttemptRow], *, provider: str) -> None:
        if any(call.delivery_id == rows[2] for call in calls):
            raise ValueError("a bug that one row shows")
        record(calls, provider=provider)

    monkeypatch.setattr(attempts, "record", broken)
    with pytest.raises(ValueError, match="a bug"):
        deliver.deliver(rows)
    assert scripted.name
    expected = [Status.SENT] * 5
    expected[2] = Status.SENDING
    assert _statuses(rows) == expected
    monkeypatch.setattr(attempts, "record", record)
    # The ledger kept the answer: the message is not sent again.
    rescue.rescue([_lapse(rows[2])])
    assert _statuses([rows[2]]) == [Status.SENT]


def test_what_an_adapter_never_reported_may_have_been_sent(
    scripted: Scripted, take: Accept
) -> None:
    rows = _rows(take, 4)

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        yield batch[0], Accepted()
        raise RuntimeError("a bug of an adapter")

    scripted.answer = answer
    with pytest.raises(CallFailed, match=r"^RuntimeError in .*test_send.py:\d+ answer"):
        deliver.deliver(rows)
    assert _statuses(rows) == [Status.SENT] + [Status.UNKNOWN] * 3


def test_an_adapter_that_raises_before_its_first_result_ends_its_task(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _rows(take, 2)

    def refuse(*_arguments: object, **_named: object) -> Iterator[Result]:
        raise RuntimeError("a bug of an adapter")

    monkeypatch.setattr(scripted, "send", refuse)
    usual = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("the task waits for ever"))
    signal.alarm(20)
    try:
        with pytest.raises(CallFailed, match=r"^RuntimeError in .*test_send.py:\d+ refuse"):
            deliver.deliver(rows)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, usual)
    assert _statuses(rows) == [Status.UNKNOWN] * 2


def test_a_message_id_longer_than_its_column_is_cut(scripted: Scripted, take: Accept) -> None:
    [row] = _rows(take, 1)
    scripted.answer = lambda batch: ((each, Accepted(message_id="x" * 999)) for each in batch)
    deliver.deliver([row])
    assert _statuses([row]) == [Status.SENT]


def test_a_replay_that_never_left_is_not_healed_by_the_answer_to_an_earlier_call(
    scripted: Scripted, take: Accept
) -> None:
    [row] = _rows(take, 1)
    deliver.deliver([row])
    receipt = Receipt(kind=ReceiptKind.FAILED, delivery_id=row, code="30003")
    assert delivery_receipts.record(scripted.name, [receipt]) == 1
    job = replay.start(LetterFilter(), requested_by="tests", forced=True, renews_ttl=False)
    replay.run(job, limit=10)
    claims.claim([row], now=clock.now())
    rescue.rescue([_lapse(row)])
    assert _statuses([row]) == [Status.QUEUED]


def test_a_receipt_of_an_unanswered_call_counts_while_the_resend_is_held(
    scripted: Scripted, take: Accept
) -> None:
    [row] = _rows(take, 1, priority="P1")
    scripted.answer = lambda batch: ((each, Unanswered(code="timeout")) for each in batch)
    deliver.deliver([row])
    assert _statuses([row]) == [Status.UNKNOWN]
    assert rescue.resend_or_close([_lapse(row)]) == 1
    assert _statuses([row]) == [Status.QUEUED]
    held = {"status": Status.SCHEDULED, "reason": "breaker"}
    Delivery.objects.filter(id=row).update(**held)
    receipt = Receipt(kind=ReceiptKind.DELIVERED, delivery_id=row)
    assert delivery_receipts.record(scripted.name, [receipt]) == 1
    assert _statuses([row]) == [Status.DELIVERED]


@pytest.mark.parametrize(
    ("priority", "expected"),
    [
        ("P0", [(Status.QUEUED, True), (Status.UNKNOWN, True)]),
        ("P1", [(Status.QUEUED, True), (Status.UNKNOWN, True)]),
        ("P2", [(Status.UNKNOWN, False)]),
    ],
)
def test_a_call_of_a_killed_worker_is_resent_as_soon_as_its_lease_ends(
    scripted: Scripted, take: Accept, priority: str, expected: list[tuple[Status, bool]]
) -> None:
    [row] = _rows(take, 1, priority=priority)
    for status, is_resent in expected:
        assert claims.claim([row], now=clock.now()).deliveries
        called = {"call_started_at": clock.now(), "provider": scripted.name}
        Delivery.objects.filter(id=row).update(**called, attempts=F("attempts") + 1)
        rescue.rescue([_lapse(row)])
        found = Delivery.objects.get(id=row)
        assert (found.status, found.resent) == (status, is_resent)


def test_silence_that_no_receipt_ends_becomes_a_dead_letter(
    scripted: Scripted, take: Accept
) -> None:
    [row] = _rows(take, 1)
    scripted.answer = lambda batch: ((each, Unanswered(code="timeout")) for each in batch)
    deliver.deliver([row])
    rescue.resend_or_close([_lapse(row)])
    assert _statuses([row]) == [Status.UNKNOWN]
    assert DeadLetter.objects.get().reason == "closed_unanswered"
