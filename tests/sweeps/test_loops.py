"""Loops of sweeps: batches until none is left, objects in turn, exceptions of one object."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.db import InterfaceError, OperationalError

from notifications.core import clock
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept


def _batches(*results: Swept) -> Callable[[], Swept]:
    left: Iterator[Swept] = iter(results)
    return lambda: next(left)


def _raises(_object: object, error: Exception) -> None:
    raise error


def test_batches_run_until_one_leaves_no_rows() -> None:
    batch = _batches(Swept(3, more=True), Swept(2, 1, more=True), Swept(1))
    assert loops.repeat(batch) == Swept(6, 1)


def test_batches_end_by_time_after_the_first() -> None:
    batch = _batches(Swept(3, more=True), Swept(2, more=True))
    assert loops.repeat(batch, ends_at=clock.monotonic()) == Swept(3, more=True)


def test_a_small_job_ends_while_a_large_job_goes_on() -> None:
    left, order = {"large": 3, "small": 1}, list[str]()

    def batch(name: str) -> Swept:
        order.append(name)
        left[name] -= 1
        return Swept(10, more=left[name] > 0)

    assert loops.in_turn(left, batch, on_error=_raises) == Swept(40)
    assert order == ["large", "small", "large", "large"]


def test_each_object_gets_a_batch_although_the_time_is_over() -> None:
    left = {"a": 2, "b": 2}

    def batch(name: str) -> Swept:
        left[name] -= 1
        return Swept(1, more=left[name] > 0)

    swept = loops.in_turn(left, batch, on_error=_raises, ends_at=clock.monotonic())
    assert (swept, left) == (Swept(2, more=True), {"a": 1, "b": 1})


def test_an_exception_of_an_object_stops_no_other_object() -> None:
    tries, errors = list[int](), list[tuple[int, str]]()

    def batch(number: int) -> Swept:
        tries.append(number)
        if number == 1:
            raise ValueError("broken")
        return Swept(1, more=tries.count(number) == 1)

    swept = loops.in_turn(
        [1, 2], batch, on_error=lambda number, error: errors.append((number, str(error)))
    )
    assert (swept, tries, errors) == (Swept(2, 1), [1, 2, 2], [(1, "broken")])


def test_the_next_object_takes_the_place_of_one_that_ended_or_failed() -> None:
    order = list[int]()

    def batch(number: int) -> Swept:
        order.append(number)
        if number == 1:
            raise ValueError("broken")
        return Swept(1, more=number == 2 and order.count(2) < 3)

    swept = loops.in_turn(range(1, 6), batch, on_error=lambda _number, _error: None, at_once=2)
    assert (swept, order) == (Swept(6, 1), [1, 2, 2, 3, 2, 4, 5])


def test_objects_without_a_turn_are_left_at_the_end_of_the_time() -> None:
    def batch(_number: int) -> Swept:
        return Swept(1)

    over = clock.monotonic()
    some = loops.in_turn([1, 2, 3], batch, on_error=_raises, ends_at=over, at_once=2)
    every = loops.in_turn([1, 2], batch, on_error=_raises, ends_at=over, at_once=2)
    assert (some, every) == (Swept(2, more=True), Swept(2))


@pytest.mark.parametrize("trouble", [OperationalError, InterfaceError])
def test_trouble_of_the_database_ends_the_run(trouble: type[Exception]) -> None:
    def batch(_number: int) -> Swept:
        raise trouble("the server is away")

    with pytest.raises(trouble):
        loops.in_turn([1, 2], batch, on_error=_raises)
