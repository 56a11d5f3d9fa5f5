"""The broker is disposable: whatever it forgets is published again, whatever it repeats is ignored.

Each test lets messages pile up in front of a worker that stands still, damages the broker under
them, and lets the worker go on. Everything arrives once.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from pathlib import Path
from socket import gethostname
from typing import Final
from uuid import UUID

import pytest

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.servers.rabbitmq import RabbitMQ
from tests.brokers import rabbitmq_only, valkey_only
from tests.scenarios.world import World

_MANY = 300
_QUEUE = "p1.email"
_NOTICED = timedelta(seconds=60)
"""A loss of P1 is noticed 3 s after the publish, by a look each second; then they are delivered."""


@contextmanager
def _standing_still(world: World) -> Iterator[None]:
    worker = world.processes["channels"]
    worker.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        worker.signal(signal.SIGCONT)


def _published(world: World, mails: list[UUID]) -> None:
    until(
        lambda: all(row["published_at"] for row in world.deliveries(mails)),
        what="all are in the broker",
    )


def _arrive_once(world: World, mails: list[UUID]) -> None:
    world.in_status(Status.DELIVERED, mails, within=_NOTICED)
    assert world.shown(mails) == [1] * len(mails)


def test_all_queues_deleted_under_load(world: World) -> None:
    somebody = world.person(email="x@sandbox.example")
    with _standing_still(world):
        mails = world.send_mails(20, user_id=somebody, priority="P1")
        _published(world, mails)
        mails += world.send_mails(_MANY, user_id=somebody)
        until(lambda: world.waiting("p2.email"), what="a message for the others is in the broker")
        world.stack.broker.flush()
    # More come while the first are missing: the workers were not told of the flood.
    mails += world.send_mails(_MANY, user_id=somebody)
    _arrive_once(world, mails)


def test_away_for_a_while(world: World) -> None:
    somebody = world.person(email="x@sandbox.example")
    world.stack.broker.kill()
    # Each request is answered while the broker is away.
    mails = [world.send_mails(1, user_id=somebody, priority="P1")[0] for _ in range(10)]
    world.stack.broker.start()
    _arrive_once(world, mails)


def test_one_queue_emptied(world: World) -> None:
    somebody = world.person(email="x@sandbox.example")
    with _standing_still(world):
        # In three messages: the first is already on its way to the worker.
        mails = world.send_mails(120, user_id=somebody, priority="P1")
        until(lambda: world.waiting(_QUEUE), what="the others wait in their queue")
        world.discard(_QUEUE)
    _arrive_once(world, mails)


@valkey_only
def test_killed_and_back_with_an_old_snapshot(world: World, tmp_path: Path) -> None:
    somebody = world.person(email="x@sandbox.example")
    with _standing_still(world):
        old = world.send_mails(20, user_id=somebody, priority="P1")
        _published(world, old)
        world.stack.valkey_broker.save(tmp_path / "old.rdb")
    _arrive_once(world, old)
    with _standing_still(world):
        new = world.send_mails(20, user_id=somebody, priority="P1")
        new += world.send_mails(20, user_id=somebody, priority="P1")
        _published(world, new)
        world.stack.valkey_broker.restore(tmp_path / "old.rdb")
    _arrive_once(world, [*old, *new])


@contextmanager
def _queue_of_another_type(broker: RabbitMQ) -> Iterator[None]:
    """Replace a lane by a classic queue, as an operator could create it."""
    with broker.link() as link, link.channel() as channel:
        channel.queue_delete(_QUEUE)
        channel.queue_declare(_QUEUE, durable=True, auto_delete=False)
        yield
        channel.queue_delete(_QUEUE)


@contextmanager
def _queue_of_another_connection(broker: RabbitMQ) -> Iterator[None]:
    """Hold the queue of the worker's `inspect`, as a lost connection of the worker itself does."""
    with broker.link() as link, link.channel() as channel:
        name = f"channels@{gethostname()}.celery.pidbox"
        channel.queue_declare(name, exclusive=True)
        yield
        channel.queue_delete(name)


_REFUSALS: Final[Mapping[str, Callable[[RabbitMQ], AbstractContextManager[None]]]] = {
    "a queue without a leader": lambda broker: broker.without_leader(_QUEUE),
    "a queue of another type": _queue_of_another_type,
    "a queue of another connection": _queue_of_another_connection,
}


@rabbitmq_only
@pytest.mark.parametrize("refusal", _REFUSALS.values(), ids=_REFUSALS)
def test_a_worker_that_may_not_consume_delivers_and_goes_on(
    world: World, refusal: Callable[[RabbitMQ], AbstractContextManager[None]]
) -> None:
    broker, worker = world.stack.broker, world.processes["channels"]
    assert isinstance(broker, RabbitMQ)
    somebody = world.person(email="x@sandbox.example")
    worker.kill()
    with refusal(broker):
        worker.start()  # is not ready: RabbitMQ does not accept a consumer
        until(
            lambda: "does not let the worker consume" in worker.text(),
            what="the worker takes rows from Postgres",
        )
        _arrive_once(world, world.send_mails(20, user_id=somebody, priority="P1"))
    worker.wait_ready()  # raises if the worker has ended
    _arrive_once(world, world.send_mails(20, user_id=somebody, priority="P1"))
