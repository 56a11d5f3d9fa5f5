"""Slots are given in turn, and no slot with an open transaction is given back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.db.transaction import TransactionManagementError

from notifications.core.store.postgres import slots
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
