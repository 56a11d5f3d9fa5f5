"""A large delivery gets its turn between small ones, and a task that waits holds no permits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from uuid import UUID

import pytest
from django.db import connection

from notifications.core import stopping
from notifications.core.delivery import attached, deliver, in_flight
from notifications.core.delivery.attached import Memory
from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from providers.contract import Accepted, Message, Outcome
from tests.features.attachments.conftest import PDF, Upload
from tests.journey import Accept, Reach, scripted, statuses, take_rows
from tests.providers.fakes import SmtpFake
from tests.vendors import Scripted

__all__ = ["scripted"]

_LARGE = PDF + bytes(len(PDF))


class Task:
    """A task that asks a memory for bytes."""

    def __init__(self, memory: Memory, *, is_urgent: bool = False) -> None:
        self._memory, self._is_urgent = memory, is_urgent

    def take(self, size: int, *, waits: bool = True) -> bool:
        return self._memory.take(size, task=self, is_urgent=self._is_urgent, waits=waits)


def test_a_large_size_is_not_starved_by_small_ones() -> None:
    memory = Memory(30)
    small, large, other = Task(memory), Task(memory), Task(memory)
    assert small.take(10)
    assert small.take(10)
    assert not large.take(30)
    assert not other.take(10)  # would fit, and comes behind the large one
    assert not small.take(10, waits=False)
    assert memory.waiting == 2
    memory.give_back(10)
    assert not other.take(10)
    assert not large.take(30)
    memory.give_back(10)
    assert large.take(30)
    assert not other.take(10)
    memory.give_back(30)
    assert not small.take(10)
    assert other.take(10)
    assert small.take(10)
    assert (memory.used, memory.waiting) == (20, 0)


def test_a_size_above_the_limit_gets_the_whole_memory() -> None:
    memory = Memory(30)
    small, large = Task(memory), Task(memory)
    assert small.take(10)
    assert not large.take(31)
    assert not small.take(10)
    memory.give_back(10)
    assert large.take(31)


def test_urgent_tasks_wait_before_patient_ones_and_a_task_that_leaves_blocks_nobody() -> None:
    memory = Memory(30)
    patient, urgent, running = Task(memory), Task(memory, is_urgent=True), Task(memory)
    assert running.take(30)
    assert not patient.take(10)
    assert not urgent.take(30)
    memory.give_back(20)
    assert not patient.take(10)
    assert not urgent.take(30)
    memory.leave(urgent)
    assert patient.take(10)
    memory.leave(urgent)
    assert memory.waiting == 0


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory for two small deliveries or a large one."""
    found = Memory(len(_LARGE))
    monkeypatch.setattr(attached, "_memory", found)
    return found


@pytest.fixture
def maria(mail_server: SmtpFake, reach: Reach) -> SmtpFake:
    """Create the recipient; returns the mail server."""
    reach(email="maria@mailbox.example")
    return mail_server


@pytest.fixture
def start() -> Iterator[Callable[[list[UUID]], Future[object]]]:
    """Return a function that delivers rows on a thread."""

    def run(found: list[UUID]) -> object:
        try:
            return deliver.deliver(found)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        yield lambda found: threads.submit(run, found)


def _waits(memory: Memory, number: int) -> bool:
    return memory.waiting == number


def _asked(file: UUID) -> list[dict[str, str]]:
    return [{"id": str(file), "name": "invoice.pdf"}]


@pytest.mark.django_db(transaction=True)
def test_a_large_delivery_leaves_before_small_ones_that_came_later(
    maria: SmtpFake,
    take: Accept,
    upload: Upload,
    memory: Memory,
    start: Callable[[list[UUID]], Future[object]],
) -> None:
    running = Task(memory)
    assert running.take(len(PDF))
    large = take_rows(take, 1, attachments=_asked(upload(_LARGE)))
    small = [take_rows(take, 3, attachments=_asked(upload())) for _ in range(2)]
    tasks = []
    for place, found in enumerate((large, *small)):
        tasks.append(start(found))
        until(partial(_waits, memory, place + 1), what="the task waits")
    assert all(pool.in_flight == 0 for pool in in_flight._pools.values())
    assert maria.contents == []
    plain = take_rows(take, 2)
    deliver.deliver(plain)
    assert statuses(plain) == [Status.SENT] * 2
    memory.give_back(len(PDF))
    for each in tasks:
        each.result(timeout=60)
    rows = [*large, *small[0], *small[1]]
    assert statuses(rows) == [Status.SENT] * 7
    sizes = [len(each) for each in maria.contents]
    assert sizes.index(max(sizes)) == 2  # behind the mails without attachments
    assert (memory.used, memory.waiting) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_a_task_that_waits_for_permits_gives_the_memory_back(
    scripted: Scripted,
    take: Accept,
    upload: Upload,
    memory: Memory,
    start: Callable[[list[UUID]], Future[object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(attached, "_HELD_FOR", 0.05)
    scripted.concurrency, scripted.attachment_bytes = 1, len(_LARGE)
    hangs, ends = threading.Event(), threading.Event()

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        hangs.set()
        assert ends.wait(timeout=60)
        for each in batch:
            yield each, Accepted()

    scripted.answer = answer
    hung = take_rows(take, 1)
    first = start(hung)
    assert hangs.wait(timeout=60)
    waiting = take_rows(take, 1, attachments=_asked(upload(_LARGE)))
    second = start(waiting)
    until(lambda: memory.used, what="the task has memory and waits for a permit")
    other = Task(memory)
    until(lambda: other.take(len(_LARGE)), what="another task gets the memory")
    memory.give_back(len(_LARGE))
    ends.set()
    for each in (first, second):
        each.result(timeout=60)
    assert statuses([*hung, *waiting]) == [Status.SENT] * 2
    assert (memory.used, memory.waiting) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_a_stop_ends_the_waiting_and_the_delivery_goes_back(
    maria: SmtpFake,
    take: Accept,
    upload: Upload,
    memory: Memory,
    start: Callable[[list[UUID]], Future[object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Task(memory).take(len(PDF))
    found = take_rows(take, 1, attachments=_asked(upload(_LARGE)))
    task = start(found)
    until(lambda: memory.waiting, what="the task waits")
    monkeypatch.setattr(stopping, "is_stopping", lambda: True)
    task.result(timeout=60)
    assert statuses(found) == [Status.QUEUED]
    assert (memory.waiting, memory.used) == (0, len(PDF))
    assert maria.contents == []
