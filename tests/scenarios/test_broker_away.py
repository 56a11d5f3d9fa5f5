"""A broker that is away is no outage: workers take what is due from Postgres, each row once.

The provider shows repeats, so a message that was sent twice is seen twice. A request is answered,
and its message arrives, before the broker comes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

import pytest

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import now, until
from tests.scenarios.world import WORKERS, World, seconds_since

pytestmark = pytest.mark.usefixtures("provider_shows_repeats")

_AWAY_SECONDS = 30.0


@contextmanager
def _dead_broker(world: World) -> Iterator[None]:
    world.stack.broker.kill()
    try:
        yield
    finally:
        world.stack.broker.start()


def _arrives(world: World, notification: UUID) -> None:
    until(lambda: world.got([notification]), what="the provider has it")


def _goes_on(world: World) -> list[UUID]:
    """Send codes and mails, one of them with a retry; return their ids when all have arrived."""
    somebody = world.person(email="x@sandbox.example")
    again = world.person(email="x+503x1@sandbox.example")
    sent: list[UUID] = []
    for _ in range(5):
        sent.append(world.send_otp(somebody))
        _arrives(world, sent[-1])
        sent += world.send_mails(1, user_id=somebody, priority="P1")
        _arrives(world, sent[-1])
    tried_again = world.send_otp(again)
    world.in_status(Status.DELIVERED, [tried_again])
    return [*sent, tried_again]


def _told_broker(world: World) -> object:
    """Return the broker's state in `/readyz`, whose status must be 200."""
    return world.service("operator").ask("GET", "/readyz").body["broker"]


def _pids(world: World) -> list[int | None]:
    return [world.processes[name].pid for name in WORKERS]


def _each_arrived_once(world: World, notifications: list[UUID]) -> None:
    world.in_status(Status.DELIVERED, notifications, within=timedelta(seconds=90))
    assert world.shown(notifications) == [1] * len(notifications)


def test_a_broker_that_is_dead_for_half_a_minute(world: World) -> None:
    somebody = world.person(email="x@sandbox.example")
    before = world.send_mails(300, user_id=somebody)
    began = now()
    sent: list[UUID] = []
    with _dead_broker(world):
        while seconds_since(began) < _AWAY_SECONDS:
            sent += _goes_on(world)
        assert _told_broker(world) == "away"
        patient = world.send_mails(20, user_id=somebody)
        world.in_status(Status.DELIVERED, patient)
    after = world.send_mails(20, user_id=somebody)
    _each_arrived_once(world, [*before, *sent, *patient, *after])


def test_a_broker_that_takes_no_writes(world: World) -> None:
    pids = _pids(world)
    for _ in range(4):  # a worker that pops a message just then cannot even note it
        with world.full_broker():
            pass
    with world.full_broker():
        sent = _goes_on(world)
        assert _told_broker(world) == "away"
    _each_arrived_once(world, sent)
    until(lambda: _told_broker(world) == "ok", what="the web process has noticed the end")
    assert _pids(world) == pids, "a worker has ended"


def test_a_broker_that_restarts_every_few_seconds(world: World) -> None:
    somebody = world.person(email="x+slow-800ms@sandbox.example")
    pids = _pids(world)
    sent: list[UUID] = []
    for _ in range(6):
        sent += world.send_mails(50, user_id=somebody, priority="P1")
        sent += world.send_mails(50, user_id=somebody)
        sent.append(world.send_otp(somebody))
        world.until_more_than(len(sent) // 2, sent)
        with _dead_broker(world):
            sent.append(world.send_otp(somebody))
            _arrives(world, sent[-1])
    world.answer_at_once()
    _each_arrived_once(world, sent)
    assert _pids(world) == pids, "a worker has ended"
