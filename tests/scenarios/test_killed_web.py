"""A web process killed between its commit and its publish loses nothing.

What it had stored is due by itself, and the producer, who got no answer, asks again with the same
key and learns that it was accepted.
"""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from notifications.rules.ids import notification_of
from notifications.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.scenarios.world import World


def test_what_was_committed_leaves_without_it(world: World) -> None:
    somebody = world.person(email="x@sandbox.example")
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
            with pytest.raises(ConnectionError):
                asking.result(timeout=10)
    finally:
        world.stack.broker.signal(signal.SIGCONT)
    code = notification_of(row["id"])
    until(lambda: world.got([code]), what="the relay has published it")
    world.start("web")
    again = world.service("auth-service").notify(world.otp(somebody), key=somebody)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.body["notification_id"] == str(code)
    world.settled([code])
    assert world.shown([code]) == [1]
    assert world.statuses([code])[0] in {Status.SENT, Status.DELIVERED}
