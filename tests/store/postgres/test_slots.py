"""Slots are given in turn, and no slot with an open transaction is given back."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

import pytest
from django.db import OperationalError, connection, transaction
from django.db.transaction import TransactionManagementError

from notifications.core import clock
from notifications.core.intake.group_commit import Finished, GroupCommit, NothingStored
from notifications.core.store.postgres import slots, thread_session
from notifications.core.store.postgres.slots import FreeSlots, SlotLease

SECONDS = 30


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as threads:
        yield threads


def test_a_request_that_has_waited_for_a_group_goes_before_new_requests(
    pool: ThreadPoolExecutor,
) -> None:
    free = FreeSlots(1)
    turns: list[str] = []

    def work(name: str, *, returning: bool) -> None:
        lease = SlotLease(free)
        lease.take(returning=returning)
        turns.append(name)
        lease.give_back()

    held = free.take()
    order = (("new 1", False), ("new 2", False), ("back 1", True), ("back 2", True))
    begun = []
    for number, (name, returning) in enumerate(order, start=1):
        begun.append(pool.submit(work, name, returning=returning))
        while len(free._waiting) + len(free._returning) < number:
            threading.Event().wait(0.001)
    free.give_back(held)
    for each in begun:
        each.result(SECONDS)
    assert turns == ["back 1", "back 2", "new 1", "new 2"]


def test_a_request_without_a_slot_that_has_waited_goes_before_new_requests(
    pool: ThreadPoolExecutor,
) -> None:
    free = FreeSlots(1)
    turns: list[str] = []

    def new() -> None:
        lease = SlotLease(free)
        lease.take()
        turns.append("new")
        lease.give_back()

    def back() -> None:
        slots.offer(SlotLease(free))
        with slots.given_back():
            pass
        with slots.taken():
            turns.append("back")
        slots.offer(None)

    held = free.take()
    begun = []
    for number, work in enumerate((new, back), start=1):
        begun.append(pool.submit(work))
        while len(free._waiting) + len(free._returning) < number:
            threading.Event().wait(0.001)
    free.give_back(held)
    for each in begun:
        each.result(SECONDS)
    assert turns == ["back", "new"]


def test_another_thread_uses_the_slot_of_a_thread_that_waits(pool: ThreadPoolExecutor) -> None:
    free = FreeSlots(1)

    def wait() -> bool:
        lease = SlotLease(free)
        lease.take()
        with slots.given_back():
            was_held = lease.is_held
            pool.submit(use).result(SECONDS)
        assert lease.is_held
        lease.give_back()
        return was_held

    def use() -> None:
        other = SlotLease(free)
        other.take()
        other.give_back()

    assert pool.submit(wait).result(SECONDS) is False


@pytest.mark.django_db(transaction=True)
def test_a_slot_with_an_open_transaction_stays(pool: ThreadPoolExecutor) -> None:
    free = FreeSlots(1)

    def wait() -> None:
        lease = SlotLease(free)
        lease.take()
        try:
            with (
                pytest.raises(TransactionManagementError),
                transaction.atomic(),
                slots.given_back(),
            ):
                pytest.fail("the slot was given back")
            assert lease.is_held
        finally:
            lease.give_back()

    pool.submit(wait).result(SECONDS)
    free.close()


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_broke_during_the_wait_is_opened_again(pool: ThreadPoolExecutor) -> None:
    free = FreeSlots(1)

    def pid() -> int:
        with connection.cursor() as running:
            running.execute("SELECT pg_backend_pid()")
            return int(running.fetchone()[0])

    def wait() -> tuple[int, int]:
        lease = SlotLease(free)
        lease.take()
        before = pid()
        with slots.given_back():
            pool.submit(end, before).result(SECONDS)
        after = pid()
        lease.give_back()
        return before, after

    def end(backend: int) -> None:
        with connection.cursor() as running:
            running.execute("SELECT pg_terminate_backend(%s, 10000)", [backend])
        connection.close()

    before, after = pool.submit(wait).result(SECONDS)
    assert before != after
    free.close()


def test_a_thread_without_a_slot_waits_like_any_thread() -> None:
    with slots.given_back():
        assert slots._thread.lease is None


@pytest.mark.django_db(transaction=True)
def test_a_slot_has_no_session_older_than_its_most_age(pool: ThreadPoolExecutor) -> None:
    free = FreeSlots(1)

    def pid() -> int:
        lease = SlotLease(free)
        lease.take()
        with connection.cursor() as running:
            running.execute("SELECT pg_backend_pid()")
            backend = int(running.fetchone()[0])
        lease.give_back()
        return backend

    first, second = (pool.submit(pid).result(SECONDS) for _ in range(2))
    assert first == second
    held = free.take()
    held.close_at = clock.monotonic() - 1  # as after CONN_MAX_AGE
    free.give_back(held)
    assert pool.submit(pid).result(SECONDS) != first
    free.close()


def test_an_error_while_a_slot_is_taken_gives_the_slot_back(
    monkeypatch: pytest.MonkeyPatch, pool: ThreadPoolExecutor
) -> None:
    free = FreeSlots(1)
    lease = SlotLease(free)

    def fail() -> None:
        raise OperationalError

    with monkeypatch.context() as failing:
        failing.setattr(thread_session, "drop_broken", fail)
        with pytest.raises(OperationalError):
            pool.submit(lease.take).result(SECONDS)
    assert not lease.is_held
    free.give_back(free.take())


def test_a_lead_without_a_slot_is_passed_on(
    monkeypatch: pytest.MonkeyPatch, pool: ThreadPoolExecutor
) -> None:
    free = FreeSlots(1)
    group = GroupCommit[int, int](lambda calls: (calls, lambda: None), lambda call: call)

    def run() -> int:
        slots.offer(SlotLease(free))
        try:
            return group.run(1)
        finally:
            slots.offer(None)

    def fail() -> None:
        raise OperationalError

    with monkeypatch.context() as failing:
        failing.setattr(thread_session, "drop_broken", fail)
        with pytest.raises(OperationalError):
            pool.submit(run).result(SECONDS)
    assert not group._is_led, "else each later call waits for ever"
    assert pool.submit(run).result(SECONDS) == 1


@pytest.mark.django_db(transaction=True)
def test_a_call_with_an_open_transaction_is_refused_and_does_not_get_the_lead(
    pool: ThreadPoolExecutor,
) -> None:
    free, began, go_on = FreeSlots(1), threading.Event(), threading.Event()

    def together(calls: Sequence[int]) -> Finished[int]:
        began.set()
        assert go_on.wait(SECONDS)
        return calls, lambda: None

    group = GroupCommit[int, int](together, lambda call: call)

    def call() -> None:
        lease = SlotLease(free)
        lease.take()
        try:
            with transaction.atomic(), pytest.raises(TransactionManagementError):
                group.run(1)
        finally:
            lease.give_back()

    first = pool.submit(group.run, 2)
    assert began.wait(SECONDS)
    pool.submit(call).result(SECONDS)
    go_on.set()
    assert first.result(SECONDS) == 2
    assert pool.submit(group.run, 3).result(SECONDS) == 3
    free.close()


def test_a_submitted_call_runs_alone_with_a_slot_of_its_own(pool: ThreadPoolExecutor) -> None:
    """The leader holds a slot by the lease of the call while a helper thread runs the call."""
    free = FreeSlots(2)
    leases: list[object] = []
    told = threading.Event()

    def refuse(_calls: object) -> NoReturn:
        leases.append(slots._thread.lease)
        raise NothingStored

    def alone(call: int) -> int:
        leases.append(slots._thread.lease)
        return call

    group = GroupCommit[int, int](refuse, alone)

    def submit() -> None:
        slots.offer(SlotLease(free))
        group.submit(1, lambda _answer: told.set())
        slots.offer(None)

    pool.submit(submit).result(SECONDS)
    assert told.wait(SECONDS)
    of_leader, of_helper = leases
    assert None not in leases
    assert of_helper is not of_leader
