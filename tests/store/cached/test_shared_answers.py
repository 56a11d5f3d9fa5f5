"""Readers of one process share an answer for a few seconds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from notifications.core.store.cached import shared_answers


def test_readers_at_the_same_time_share_one_computation() -> None:
    shared_answers.forget()
    readers = 8
    together = Barrier(readers)
    computed: list[int] = []

    def read() -> int:
        together.wait(timeout=10)
        return shared_answers.get("key", compute, seconds=60)

    def compute() -> int:
        computed.append(1)
        return len(computed)

    with ThreadPoolExecutor(readers) as pool:
        found = [each.result() for each in [pool.submit(read) for _ in range(readers)]]
    assert found == [1] * readers


def test_an_old_answer_is_computed_again() -> None:
    shared_answers.forget()
    found = [shared_answers.get("key", object, seconds=0) for _ in range(2)]
    assert found[0] is not found[1]
