"""Workers take published rows without a claim: at the start, and in direct mode."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import partial

import pytest

from notifications.core import clock
from notifications.core.models import Delivery
from notifications.core.rules.lane import EXPAND, OPS, TELL, Priority
from notifications.core.rules.states import Status
from notifications.core.sweeps import relay
from notifications.core.tasks.deliver import SLOTS
from notifications.core.tasks.direct import Direct
from tests.store.stored_rows import MakeDelivery, make_delivery

__all__ = ["make_delivery"]  # a fixture of the store's tests

_QUEUES = [f"p{priority.value}.email" for priority in Priority]
_MINUTE = dt.timedelta(minutes=1)


def _direct(given: list[Callable[[], None]], *, busy: int = 0) -> Direct:
    SLOTS.limit(8, queues=_QUEUES)
    return Direct(_QUEUES, slots=8, submit=given.append, busy=lambda: busy)


@pytest.mark.parametrize("priority", Priority)
@pytest.mark.parametrize(
    ("due_in", "published_ago", "is_lost"),
    [
        (-_MINUTE, None, True),
        (_MINUTE, 2 * relay.LOST_AFTER, True),
        (_MINUTE, dt.timedelta(0), False),
    ],
)
def test_what_is_urgent_and_due_or_lost_begins(
    make_delivery: MakeDelivery,
    *,
    priority: Priority,
    due_in: dt.timedelta,
    published_ago: dt.timedelta | None,
    is_lost: bool,
) -> None:
    now = clock.now()
    Delivery.objects.filter(id=make_delivery(Status.QUEUED)).update(
        priority=priority,
        due_at=now + due_in,
        published_at=None if published_ago is None else now - published_ago,
    )
    given: list[Callable[[], None]] = []
    assert _direct(given).catch_up()
    assert len(given) == int(is_lost and priority.is_urgent)


@pytest.mark.parametrize(
    ("queues", "has_work"),
    [(["p3.email", EXPAND], True), ([OPS, TELL], True), ([TELL], False), ([EXPAND], False)],
)
def test_a_process_with_a_lane_or_the_sweeps_has_work(queues: list[str], *, has_work: bool) -> None:
    direct = Direct(queues, slots=8, submit=lambda _run: None, busy=lambda: 0)
    assert direct.has_work == has_work


@pytest.mark.parametrize(
    ("queues", "seconds"),
    [(["p0.sms", "p3.sms"], 1), (["p1.push"], 1), (["p2.email", "p3.email"], 2), ([OPS, TELL], 2)],
)
def test_a_process_with_urgent_lanes_probes_twice_as_often(
    queues: list[str], *, seconds: float
) -> None:
    direct = Direct(queues, slots=8, submit=lambda _run: None, busy=lambda: 0)
    assert direct.probe_every == seconds


def test_nothing_begins_before_the_pool_has_a_free_slot(make_delivery: MakeDelivery) -> None:
    due = clock.now() - _MINUTE
    Delivery.objects.filter(id=make_delivery(Status.QUEUED)).update(
        priority=Priority.P0, due_at=due
    )
    given: list[Callable[[], None]] = []
    assert not _direct(given, busy=8).catch_up()
    assert not given


def test_due_rows_begin_in_the_slots_that_their_number_needs(
    make_delivery: MakeDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "SMALLEST_MESSAGE", 2)
    due = clock.now() - _MINUTE
    for _ in range(5):
        Delivery.objects.filter(id=make_delivery(Status.QUEUED)).update(due_at=due)
    given: list[Callable[[], None]] = []
    assert _direct(given).look() == 3
    assert len(given) == 3


@pytest.mark.parametrize("priority", [Priority.P0, Priority.P1])
def test_without_the_broker_rows_that_others_publish_begin_time_after_time(
    make_delivery: MakeDelivery, monkeypatch: pytest.MonkeyPatch, *, priority: Priority
) -> None:
    start = clock.monotonic()
    monkeypatch.setattr(clock, "monotonic", partial(float, start))
    given: list[Callable[[], None]] = []
    direct = _direct(given)
    direct.begin()
    assert not direct.look()
    # A process that the broker lets in publishes into a queue that nobody consumes.
    for begun in (1, 2):
        now = clock.now()
        Delivery.objects.filter(id=make_delivery(Status.QUEUED)).update(
            priority=priority, due_at=now + _MINUTE, published_at=now - 2 * relay.LOST_AFTER
        )
        assert not direct.look()  # the last look was less than a second ago
        monkeypatch.setattr(clock, "monotonic", partial(float, start + 2.0 * begun))
        assert direct.look() == 1
    assert len(given) == 2
