"""A provider that hangs slows its own channel only, where one worker serves several.

No channel may hold more than half of a worker's slots.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.scenarios.world import World


def test_the_other_channels_go_on_at_their_pace(world: World) -> None:
    hangs = world.person(email="x+stall@sandbox.example")
    well = world.person(sms="+15552000007")
    service = world.service("order-service")
    # More single messages than the worker has slots.
    stuck = [world.send_mails(1, user_id=hangs, priority="P1", ttl_seconds=8)[0] for _ in range(12)]
    until(lambda: len(world.got(stuck)) >= 2, what="the hung calls hold their slots")
    texts = [
        UUID(
            service.notify(world.mail(well, priority="P1", channels=["sms"])).body[
                "notification_id"
            ]
        )
        for _ in range(5)
    ]
    world.in_status(Status.DELIVERED, texts)
    hung = [each for each in world.statuses(stuck) if each is Status.SENDING]
    assert len(hung) >= 2, "the texts waited until the hung calls had ended"
    assert world.settled(stuck, within=timedelta(seconds=40)) != []
