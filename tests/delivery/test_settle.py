"""The outcomes of calls are written to Postgres, each by itself and as soon as it is known."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Self
from uuid import UUID

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from notifications.core.delivery import deliver, rescue, settle
from notifications.core.delivery.batch import Batch
from notifications.core.delivery.withholding import CallFailed
from notifications.core.models import Attempt, Delivery, Price, ProviderRoute
from notifications.core.rules import ids
from notifications.core.rules.states import Status
from notifications.core.store.cached import prices
from notifications.core.store.postgres import attempts
from providers.contract import (
    Accepted,
    Channel,
    Message,
    Outcome,
    Provider,
    Rejected,
    Throttled,
)
from tests.journey import (
    CHAIN,
    Accept,
    AddVendor,
    Reach,
    deliveries_of,
    lapse,
    statuses,
    take_rows,
)
from tests.vendors import Scripted


def _break_connections() -> None:
    """As a restart or a failover of Postgres does."""
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as own:
        own.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


_ACCEPTED = Accepted()


class _Locked:
    """A row that another transaction holds from the first call to the end of some settles."""

    def __init__(
        self,
        row: UUID,
        monkeypatch: pytest.MonkeyPatch,
        *,
        looks_at: Sequence[UUID],
        held_for: int = 1,
        table: str = "delivery",
    ) -> None:
        self.seen: list[list[Status]] = []
        """The statuses of the rows of `looks_at` after each settle during the lock."""
        self._looks_at, self._held_for = looks_at, held_for
        self._id = row if table == "delivery" else ids.notification_of(row)
        self._lock = sql.SQL("SELECT FROM {} WHERE id = %s FOR UPDATE").format(
            sql.Identifier(table)
        )
        self._write = settle.settle
        monkeypatch.setattr(settle, "settle", self._settle)

    def __enter__(self) -> Self:
        self._session = psycopg.connect(**connection.get_connection_params(), autocommit=False)
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    def answer(
        self, batch: Sequence[Message], outcome: Outcome = _ACCEPTED
    ) -> Iterator[tuple[Message, Outcome]]:
        if not self.seen:
            self._session.execute(self._lock, [self._id])
        return ((each, outcome) for each in batch)

    def _settle(
        self, batch: Batch, pairs: Sequence[settle.Pair], *, provider: Provider
    ) -> Sequence[settle.Pair]:
        try:
            return self._write(batch, pairs, provider=provider)
        finally:
            if len(self.seen) < self._held_for:
                self.seen.append(statuses(self._looks_at))
            if len(self.seen) == self._held_for:
                self._session.rollback()


@pytest.mark.django_db(transaction=True)
def test_answers_survive_a_postgres_that_drops_its_connections(
    scripted: Scripted, take: Accept
) -> None:
    rows = take_rows(take, 20)

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        half = len(batch) // 2
        for each in batch[:half]:
            yield each, Throttled(code="429")
        _break_connections()
        for each in batch[half:]:
            yield each, Accepted(message_id=f"id-{each.delivery_id}")

    scripted.answer = answer
    deliver.deliver(rows)
    assert sorted(statuses(rows)) == [Status.RETRYING] * 10 + [Status.SENT] * 10


def test_an_answer_is_settled_while_another_call_hangs(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 2)
    is_settled = threading.Event()
    write = settle.settle

    def settle_and_tell(
        batch: Batch, pairs: Sequence[settle.Pair], *, provider: Provider
    ) -> Sequence[settle.Pair]:
        locked = write(batch, pairs, provider=provider)
        is_settled.set()
        return locked

    seen: list[bool] = []

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        yield batch[0], Accepted()
        seen.append(is_settled.wait(timeout=20))
        yield batch[1], Accepted()

    monkeypatch.setattr(settle, "settle", settle_and_tell)
    scripted.answer = answer
    deliver.deliver(rows)
    assert seen == [True]
    assert statuses(rows) == [Status.SENT] * 2


def test_an_outcome_that_cannot_be_written_does_not_take_the_others_with_it(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 5)
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
    assert statuses(rows) == expected
    monkeypatch.setattr(attempts, "record", record)
    # The ledger kept the answer: the message is not sent again.
    rescue.rescue([lapse(rows[2])])
    assert statuses([rows[2]]) == [Status.SENT]


def test_what_an_adapter_never_reported_may_have_been_sent(
    scripted: Scripted, take: Accept
) -> None:
    rows = take_rows(take, 4)

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        yield batch[0], Accepted()
        raise RuntimeError("a bug of an adapter")

    scripted.answer = answer
    with pytest.raises(CallFailed, match=r"^RuntimeError in .*test_settle.py:\d+ answer"):
        deliver.deliver(rows)
    assert statuses(rows) == [Status.SENT] + [Status.UNKNOWN] * 3


def test_a_message_id_longer_than_its_column_is_cut(scripted: Scripted, take: Accept) -> None:
    [row] = take_rows(take, 1)
    scripted.answer = lambda batch: ((each, Accepted(message_id="x" * 999)) for each in batch)
    deliver.deliver([row])
    assert statuses([row]) == [Status.SENT]


@pytest.mark.django_db(transaction=True)
def test_a_locked_row_holds_up_no_other_outcome_of_its_group(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 20)
    with _Locked(rows[7], monkeypatch, looks_at=rows[:7] + rows[8:]) as locked:
        scripted.answer = locked.answer
        deliver.deliver(rows)
    assert set(locked.seen[0]) == {Status.SENT}
    assert statuses(rows) == [Status.SENT] * 20
    assert Attempt.objects.count() == 20


@pytest.mark.django_db(transaction=True)
def test_a_locked_notification_of_a_chain_holds_up_no_other_outcome(
    scripted: Scripted, reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(user_id="ana", email="ana@example.com", sms="+15552020300")
    fields = CHAIN | {"user_id": "ana", "channels": ["email", "sms"], "priority": "P2"}
    rows = take_rows(take, 3, **fields)
    with _Locked(rows[0], monkeypatch, looks_at=rows[1:], table="notification") as locked:
        scripted.answer = partial(locked.answer, outcome=Rejected(code="550"))
        deliver.deliver(rows)
    assert locked.seen == [[Status.FAILED] * 2]
    assert statuses(rows) == [Status.FAILED] * 3
    assert Delivery.objects.filter(channel=Channel.SMS).count() == 3


@pytest.mark.django_db(transaction=True)
def test_a_locked_row_holds_up_no_outcome_of_a_later_wave(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 3)
    scripted.concurrency = 1
    with _Locked(rows[0], monkeypatch, looks_at=rows[1:], held_for=3) as locked:
        scripted.answer = locked.answer
        deliver.deliver(rows)
    assert locked.seen[-1] == [Status.SENT] * 2
    assert statuses(rows) == [Status.SENT] * 3


@pytest.mark.django_db(transaction=True)
def test_a_locked_row_holds_up_no_next_provider(
    scripted: Scripted, take: Accept, add_vendor: AddVendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_vendor("spare")
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="spare", rank=1)
    rows = take_rows(take, 3)

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        [(first, accepted), *others] = locked.answer(batch)
        yield first, accepted
        yield from ((each, Throttled(code="429")) for each, _ in others)

    with _Locked(rows[0], monkeypatch, looks_at=rows[1:], held_for=3) as locked:
        scripted.answer = answer
        deliver.deliver(rows)
    assert locked.seen[-1] == [Status.SENT] * 2
    assert statuses(rows) == [Status.SENT] * 3


@pytest.mark.django_db(transaction=True)
def test_a_locked_row_with_a_late_refusal_holds_up_no_outcome_of_a_later_wave(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 3)
    scripted.concurrency = 1

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        if batch[0].delivery_id != rows[0]:
            return locked.answer(batch)
        rescue.rescue([lapse(rows[0])])
        connection.close()  # of the thread of the call
        return locked.answer(batch, Throttled(code="429"))

    with _Locked(rows[0], monkeypatch, looks_at=rows[1:], held_for=4) as locked:
        scripted.answer = answer
        deliver.deliver(rows)
    assert locked.seen[-1] == [Status.SENT] * 2
    assert statuses(rows) == [Status.RETRYING, Status.SENT, Status.SENT]
    assert Attempt.objects.count() == 3


@pytest.mark.usefixtures("outbox")
def test_an_accepted_call_stores_its_price(reach: Reach, take: Accept) -> None:
    reach(sms="+4915112345678")
    Price.objects.create(
        channel=Channel.SMS, country="DE", micros=89_500, valid_from=dt.date(2026, 1, 1)
    )
    prices.forget()
    name = "x" * 170  # with the rest of the text: two segments
    [row] = deliveries_of(take(channels=["sms"], variables={"name": name, "code": "1"}))
    deliver.deliver([row.id])
    call = Attempt.objects.get(delivery_id=row.id)
    assert (call.segments, call.country, call.cost_micros) == (2, "DE", 179_000)


def test_a_failed_call_and_a_free_channel_have_no_price(scripted: Scripted, take: Accept) -> None:
    rows = take_rows(take, 2)
    scripted.answer = lambda batch: zip(batch, (Throttled(), Accepted()), strict=True)
    deliver.deliver(rows)
    found = set(Attempt.objects.values_list("outcome", "cost_micros"))
    assert found == {("throttled", None), ("accepted", 100)}
