"""A worker of P2 and P3 with both lanes full takes four messages of P2 for each of P3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from uuid import UUID

import pytest

from notifications.core.rules.ids import notification_of
from notifications.core.rules.states import Status
from notifyproj.devstack.supervisor.process import Process
from notifyproj.devstack.supervisor.programs import OutputShows, Program
from tests.architecture import compose
from tests.scenarios.world import World

_OF_EACH: Final = 100
_SHARE: Final = _OF_EACH // 5
_START: Final = 5
"""Difference that the first messages of the worker may make to the share."""
_SLOW: Final = "x+slow-100ms@sandbox.example"


@pytest.fixture
def worker(world: World) -> Iterator[Process]:
    """Compose's worker of mails, not started; no other process fills its lanes or takes them."""
    for name in ("beat", "channels"):
        world.processes[name].kill()
    service = compose.services()["worker-email"]
    line = [*service["entrypoint"], *service["command"]]
    program = Program(name="worker-email", arguments=("-m", *line), ready=OutputShows(" ready."))
    process = Process(program, ports=world.ports, environ=world.environ, var=world.var)
    yield process
    process.kill()


def _fill(world: World, user_id: str, priority: str) -> list[UUID]:
    """Fill a lane with messages; a message has one delivery."""
    mails = world.send_mails(_OF_EACH, user_id=user_id, priority=priority)
    for row in world.deliveries(mails):
        world.publish(f"{priority.lower()}.email", [row["id"]])
    return mails


def test_a_fifth_of_what_a_worker_sends_is_p3_while_p2_waits_too(
    world: World, worker: Process
) -> None:
    somebody = world.person(email=_SLOW)
    social, marketing = (_fill(world, somebody, each) for each in ("P2", "P3"))
    worker.start()
    worker.wait_ready()
    world.in_status(Status.DELIVERED, [*social, *marketing])
    taken = [notification_of(UUID(each["delivery_id"])) for each in world.sandbox.messages()]
    of_marketing = len(set(taken[:_OF_EACH]) & set(marketing))
    assert _SHARE - _START <= of_marketing <= _SHARE + _START
