"""A web process killed between its commit and its publish loses nothing.

What it had stored is due by itself, and the producer, who got no answer, asks again with the same
key and learns that it was accepted.
"""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from notifications.core.rules.ids import notification_of
from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.scenarios.world import World

_TRIES = 5
"""On a busy machine the answer may leave before the kill."""


def _ask_and_kill(world: World, somebody: str) -> dict[str, Any] | None:
    """Kill the web process after its commit; returns the delivery, or None if it had answered."""
    world.stack.broker.signal(signal.SIGSTOP)  # so that publishing takes its 300 ms
    try:
        with ThreadPoolExecutor(1) as producer:
            asking = producer.submit(
                world.service("auth-service").notify, world.otp(somebody), key=somebody
            )
            [row] = until(
                lambda: world.rows(
                    "SELECT d.id FROM delivery d JOIN notification n USING (recipient_id)"
                    " WHERE user_id = %s",
                    somebody,
                ),
                what="it is committed",
            )
            world.processes["web"].kill()
            return row if isinstance(asking.exception(timeout=10), ConnectionError) else None
    finally:
        world.stack.broker.signal(signal.SIGCONT)


def _killed_before_its_answer(world: World) -> tuple[str, dict[str, Any]]:
    for _ in range(_TRIES):
        somebody = world.person(email="x@sandbox.example")
        if row := _ask_and_kill(world, somebody):
            return somebody, row
        world.start("web")
    pytest.fail(f"the answer left before the kill {_TRIES} times")


def test_what_was_committed_leaves_without_it(world: World) -> None:
    somebody, row = _killed_before_its_answer(world)
    code = notification_of(row["id"])
    until(lambda: world.got([code]), what="the relay has published it")
    world.start("web")
    again = world.service("auth-service").notify(world.otp(somebody), key=somebody)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.body["notification_id"] == str(code)
    world.settled([code])
    assert world.shown([code]) == [1]
    assert world.statuses([code])[0] in {Status.SENT, Status.DELIVERED}
