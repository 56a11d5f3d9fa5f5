"""A running installation changes from Valkey to RabbitMQ as its broker, by the page's two steps.

The steps of docs/deploy.md: the workers and beat get the new address, then web. Between the steps
web publishes to the old broker, where no worker listens any more.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final
from uuid import UUID

import pytest

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.servers import EmbeddedError
from notifyproj.devstack.servers.rabbitmq import RabbitMQ
from tests.scenarios.world import WORKERS, World

_WITHIN: Final = timedelta(seconds=90)
_BETWEEN: Final = 10
"""OTPs that web publishes to the old broker while no worker listens there."""
_EACH: Final = 5
"""Mails of a request of the load."""
_PAUSE_SECONDS: Final = 0.2


@pytest.fixture
def rabbitmq(world: World) -> Iterator[RabbitMQ]:
    """A RabbitMQ beside the broker of the product."""
    if isinstance(world.stack.broker, RabbitMQ):
        pytest.skip("the product runs on RabbitMQ already")
    place = world.stack.state.place
    node = RabbitMQ("rabbitmq-next", place=place, password=world.stack.state.password)
    try:
        node.start()
    except EmbeddedError as error:
        pytest.skip(str(error))
    yield node
    node.kill()
    node.erase()


@pytest.mark.usefixtures("provider_shows_repeats")
def test_a_switch_under_load_loses_nothing_and_sends_nothing_twice(
    world: World, rabbitmq: RabbitMQ
) -> None:
    person = world.person(email="x@sandbox.example")
    try:
        with _load(world, person) as sent:
            until(lambda: len(sent) > 4 * _EACH, what="the load runs")
            _give(world, rabbitmq.url, *WORKERS, "beat")
            between = [world.send_otp(person) for _ in range(_BETWEEN)]
            world.in_status(Status.DELIVERED, between, within=_WITHIN)
            _give(world, rabbitmq.url, "web")
            after = world.send_otp(person)
        everything = [*sent, *between, after]
        world.in_status(Status.DELIVERED, everything, within=_WITHIN)
        assert world.shown(everything) == [1] * len(everything)
        ready = world.service("operator").ask("GET", "/readyz").body
        assert (ready["status"], ready["broker"]) == ("ready", "ok")
    finally:
        world.restart(*WORKERS, "beat", "web")


@contextmanager
def _load(world: World, person: str) -> Iterator[list[UUID]]:
    """Send mails without a pause of the producer, who repeats what web could not answer."""
    sent: list[UUID] = []
    over = threading.Event()

    def run() -> None:
        while not over.wait(_PAUSE_SECONDS):
            try:
                sent.extend(world.send_mails(_EACH, user_id=person))
            except OSError:  # web is replaced; without an answer nothing was promised
                continue

    producer = threading.Thread(target=run)
    producer.start()
    try:
        yield sent
    finally:
        over.set()
        producer.join()


def _give(world: World, broker_url: str, *names: str) -> None:
    """Stop processes by SIGTERM, and start the processes with another broker."""
    for name in names:
        world.processes[name].ask_to_stop()
    for name in names:
        world.processes[name].stop()
        world.processes[name] = world.process(
            name, CELERY_BROKER_URL=broker_url, NOTIFY_SANDBOX_DEDUP="no"
        )
    world.start(*names)
