"""Who may hold how many slots of a worker."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Thread

import pytest

from notifications.core import lanes
from notifications.core.tasks.slots import Slots

SLOTS = 8


def slots_of(*channels: str, priorities: Sequence[str] = ("p1", "p3")) -> Slots:
    """Slots of a process that serves these lanes; other priorities have work at the moment."""
    slots = Slots(patience_seconds=0.01)
    slots.limit(SLOTS, queues=[f"{each}.{channel}" for each in priorities for channel in channels])
    with slots.hold("p1.push"):
        return slots


@contextmanager
def all_taken(slots: Slots, lanes: Sequence[str]) -> Iterator[list[bool]]:
    with ExitStack() as held:
        yield [held.enter_context(slots.hold(lane)) for lane in lanes]


@pytest.mark.parametrize(
    ("lane", "channels", "share"),
    [
        ("p1.email", ("email", "sms"), SLOTS // 2),
        ("p1.email", ("email",), SLOTS),
        ("p3.email", ("email", "sms"), SLOTS // 4),
        ("p3.email", ("email",), SLOTS // 4),
        ("test.p3.email", ("email",), SLOTS // 4),
    ],
)
def test_a_lane_gets_its_share_and_no_more(
    lane: str, channels: tuple[str, ...], share: int
) -> None:
    with all_taken(slots_of(*channels), [lane] * SLOTS) as taken:
        assert taken == [True] * share + [False] * (SLOTS - share)


@pytest.mark.parametrize(
    ("lane", "share"), [("p1.push", 32), ("p2.push", 4), ("p3.push", 2), ("test.p2.sms", 4)]
)
def test_many_slots_for_urgent_messages_are_not_more_for_patient_ones(
    lane: str, share: int
) -> None:
    slots = Slots(patience_seconds=0.0)
    queues = [f"{each}.{channel}" for each in ("p1", "p2", "p3") for channel in ("push", "sms")]
    slots.limit(64, queues=queues)
    with slots.hold("p1.push"):
        pass
    with all_taken(slots, [lane] * 40) as taken:
        assert taken.count(True) == share
    assert slots.patient == 4


def test_marketing_of_all_channels_together_gets_one_share() -> None:
    with all_taken(slots_of("email", "sms"), ["p3.email", "p3.sms", "p3.sms"]) as taken:
        assert taken == [True, True, False]


def test_marketing_uses_what_is_idle_and_leaves_a_quarter_free() -> None:
    now = [0.0]
    slots = Slots(patience_seconds=0.01, time=lambda: now[0])
    slots.limit(SLOTS, queues=["p1.email", "p3.email"])
    idle = SLOTS - SLOTS // 4
    with all_taken(slots, ["p3.email"] * SLOTS) as taken:
        assert taken == [True] * idle + [False] * (SLOTS - idle)
        with slots.hold("p1.email") as free:
            assert free
    with all_taken(slots, ["p3.email"] * SLOTS) as taken:
        assert taken.count(True) == SLOTS // 4, "another priority came a moment ago"
    now[0] += 6
    with all_taken(slots, ["p3.email"] * SLOTS) as taken:
        assert taken.count(True) == idle


def test_a_process_for_marketing_alone_uses_all_its_slots() -> None:
    slots = Slots(patience_seconds=0.01)
    slots.limit(SLOTS, queues=["p3.email"])
    with all_taken(slots, ["p3.email"] * SLOTS) as taken:
        assert taken == [True] * SLOTS


def test_a_full_share_leaves_room_for_others() -> None:
    slots = slots_of("email", "sms")
    with all_taken(slots, ["p3.email"] * 2), all_taken(slots, ["p1.email"] * 3) as urgent:
        assert urgent == [True, True, False]
        with slots.hold("p2.sms") as free:
            assert free


def test_a_slot_that_comes_free_in_time_is_taken() -> None:
    slots = Slots(patience_seconds=30)
    slots.limit(1, queues=["p1.email", "p3.email"])
    taken: list[bool] = []

    def wait() -> None:
        with slots.hold("p3.email") as free:
            taken.append(free)

    waiter = Thread(target=wait)
    with slots.hold("p3.email"):
        waiter.start()
    waiter.join(30)
    assert taken == [True]


def test_the_queue_of_a_task_that_takes_an_idle_slot_is_consumed() -> None:
    """P3 gets more slots by time: no task ends that would resume the queue."""
    moments = deque([0.0])
    slots = Slots(
        patience_seconds=0.01,
        time=lambda: moments.popleft() if len(moments) > 1 else moments[0],
    )
    slots.limit(SLOTS, queues=["p1.email", "p3.email"])
    order = lanes.WeightedOrder(["p1.email", "p3.email"])
    assert slots.take("p1.email")
    with ExitStack() as held:
        while held.enter_context(slots.hold("p3.email")):
            pass
        assert order.consume(2) == ["p1.email"]
        moments.append(60.0)  # after one more look at the slots
        assert held.enter_context(slots.hold("p3.email"))
        assert order.consume(2) == ["p1.email", "p3.email"]


def test_the_queue_of_a_waiting_task_is_not_consumed() -> None:
    """A message for which no task can wait would end unused, and its rows wait for the relay."""
    slots = Slots(patience_seconds=30)
    slots.limit(1, queues=["p1.email", "p3.email"])
    order = lanes.WeightedOrder(["p1.email", "p3.email"])

    def wait() -> None:
        with slots.hold("p3.email"):
            pass

    waiter = Thread(target=wait)
    with slots.hold("p3.email"):
        waiter.start()
        while waiter.is_alive() and order.consume(2) != ["p1.email"]:
            waiter.join(0.001)
        assert waiter.is_alive()
    waiter.join(30)
    assert order.consume(2) == ["p1.email", "p3.email"]


def test_a_worker_whose_queues_are_all_paused_consumes_none() -> None:
    order = lanes.WeightedOrder(["p2.email", "p3.email"])
    lanes.pause_queue("p2.email")
    assert order.consume(2) == ["p3.email"]
    lanes.pause_queue("p3.email")
    assert not {"p2.email", "p3.email"} & set(order.consume(2))
    lanes.resume_queues(["email"])
    assert order.consume(2) == ["p2.email", "p3.email"]
    assert order.consume(0) == []


def test_a_queue_can_be_paused_while_others_are_resumed() -> None:
    """A task pauses the queue without the lock of the slots; the end of another resumes queues."""

    class Parts(list[str]):
        def __iter__(self) -> Iterator[str]:
            lanes.pause_queue("p3.push")  # as another thread, between two names
            return super().__iter__()

    lanes.pause_queue("p3.email")
    lanes.resume_queues(Parts(["email"]))
    order = lanes.WeightedOrder(["p3.push", "p3.email"])
    assert order.consume(2) == ["p3.email"]
    lanes.resume_queues(["push"])
    assert order.consume(2) == ["p3.push", "p3.email"]
