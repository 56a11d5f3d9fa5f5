"""A deploy is no crash: workers that are asked to stop finish their calls and end; nobody waits.

The provider shows repeats, so a message that was sent twice is seen twice.
"""

from __future__ import annotations

import pytest

from notifications.core.rules.states import Status
from tests.scenarios.world import WORKERS, World

_MANY = 200
_LONGEST = 30
"""Seconds that a stop may take: a call's deadline of ten and the settling, on a busy machine."""
_SLOW = "x+slow-800ms@sandbox.example"


@pytest.mark.usefixtures("provider_shows_repeats")
def test_busy_workers_stop_in_turn_and_every_message_arrives_once(world: World) -> None:
    somebody = world.person(email=_SLOW)
    mails = world.send_mails(_MANY, user_id=somebody, priority="P1")
    codes = [world.send_otp(somebody) for _ in range(20)]
    everything = [*mails, *codes]
    world.until_more_than(0, codes)
    for name in (*WORKERS, "transactional"):
        worker = world.processes.get(name) or world.start_extra(name)[0]
        worker.ask_to_stop()
        assert worker.wait_for_end(_LONGEST)
        assert worker.exit_code == 0
        worker.start()
    world.answer_at_once()
    world.in_status(Status.DELIVERED, everything)
    assert world.shown(everything) == [1] * len(everything)
    assert {row["attempts"] for row in world.deliveries(everything)} == {1}


def test_an_idle_worker_stops_at_once_while_the_broker_is_away(world: World) -> None:
    world.stack.broker.kill()
    try:
        for name in WORKERS:
            world.processes[name].ask_to_stop()
        for name in WORKERS:
            assert world.processes[name].wait_for_end(_LONGEST)
            assert world.processes[name].exit_code == 0
    finally:
        world.stack.broker.start()
