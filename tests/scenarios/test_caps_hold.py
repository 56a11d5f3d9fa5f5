"""A cap holds over all workers: killed or not, together they let exactly as many through as fit.

An hour passes by making what Redis has counted, and what Postgres holds, an hour older.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

import pytest
import redis

from notifications.core.rules.ids import delivery_id
from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.scenarios.world import World
from tests.store.ageing import age_caps

_CAP: Final = 3
_HOURS: Final = 2
_PEOPLE: Final = 10
_HOUR: Final = timedelta(hours=1)
_SLOW: Final = "x+slow-300ms+receipt-never@sandbox.example"
_QUIET: Final = "x+receipt-never@sandbox.example"

Mails = dict[str, list[UUID]]
"""By person."""


@pytest.fixture
def _state_comes_back(world: World) -> Iterator[None]:
    yield
    world.stack.state.start()


def test_no_worker_lets_one_too_many_through_and_what_waited_arrives(world: World) -> None:
    mails = _accepted_by_nobody(world)
    every = [each for of_one in mails.values() for each in of_one]
    workers = [world.processes["channels"], *world.start_extra("transactional", "channels")]
    _all_workers_get_everybody(world, mails)
    for hour in range(1, _HOURS + 1):
        world.until_more_than((hour - 1) * _CAP * _PEOPLE, every)
        world.kill_and_restart(*workers, world.processes["beat"])
        world.forget_the_killed(every)
        until(
            lambda: not set(world.statuses(every)) - {Status.SENT, Status.SCHEDULED},
            what="each has come or waits",
        )
        assert _arrived(world, mails) == dict.fromkeys(mails, hour * _CAP)
        _an_hour_passes(world, every)
    world.in_status(Status.SENT, every)
    assert world.shown(every) == [1] * len(every)


def test_marketing_over_it_is_dropped_and_an_order_is_not(world: World) -> None:
    somebody = _capped(world, _QUIET)
    first = world.send_mails(_CAP, user_id=somebody)
    world.in_status(Status.SENT, first)
    news = world.send_mails(5, user_id=somebody, priority="P3")
    order = world.send_mails(1, user_id=somebody, priority="P1")
    world.in_status(Status.SUPPRESSED, news)
    world.in_status(Status.SENT, order)
    assert Counter(row["reason"] for row in world.deliveries(news)) == {"capped": len(news)}
    assert set(world.got([*news, *order])) == set(order)


@pytest.mark.usefixtures("_state_comes_back")
def test_while_nobody_can_count_the_urgent_leave_and_the_others_wait(world: World) -> None:
    somebody = _capped(world, _QUIET)
    world.stack.state.kill()
    [order] = world.send_mails(1, user_id=somebody, priority="P1")
    patient = world.send_mails(1, user_id=somebody)
    patient += world.send_mails(1, user_id=somebody, priority="P3")
    world.in_status(Status.SENT, [order])
    world.in_status(Status.SCHEDULED, patient)
    assert {row["reason"] for row in world.deliveries(patient)} == {"cap_unknown"}
    world.kill_and_restart(world.processes["channels"])  # in which the countdown of what waits ran
    world.stack.state.start()
    world.expire_waits(patient)
    world.in_status(Status.SENT, patient)
    assert world.shown([order, *patient]) == [1] * 3


def _capped(world: World, address: str) -> str:
    somebody = world.person(email=address)
    world.wish(somebody, caps={"email": f"{_CAP}/hour"})
    return somebody


def _accepted_by_nobody(world: World) -> Mails:
    """Accept mails over the cap of a person and hour, which wait because beat is dead."""
    world.processes["beat"].kill()
    people = [_capped(world, _SLOW) for _ in range(_PEOPLE)]
    return {each: world.send_mails(_HOURS * _CAP, user_id=each) for each in people}


def _all_workers_get_everybody(world: World, mails: Mails) -> None:
    """Tasks with one mail of each person, and the same in other company."""
    for several in zip(*mails.values(), strict=True):
        world.publish("p2.email", [delivery_id(each, 1) for each in several])
    for of_one in mails.values():
        world.publish("p2.email", [delivery_id(each, 1) for each in of_one])


def _an_hour_passes(world: World, mails: Sequence[UUID]) -> None:
    with redis.Redis.from_url(world.stack.state.url) as client:
        age_caps(_HOUR, client)
    world.rows(
        "UPDATE delivery SET due_at = due_at - %s"
        " WHERE notification_of(id) = ANY(%s) AND status = %s",
        _HOUR + timedelta(seconds=6),  # the sweep leaves a row to its own message for five
        list(mails),
        Status.SCHEDULED,
    )


def _arrived(world: World, mails: Mails) -> dict[str, int]:
    return {user_id: len(world.got(of_one)) for user_id, of_one in mails.items()}
