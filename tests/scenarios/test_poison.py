"""A row that kills its worker ends as a dead letter, and takes nobody with it.

Claimed three times in vain it shares its message with few others, after four claims with none;
after five it is given up as `poison`.
"""

from __future__ import annotations

from uuid import UUID

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.scenarios.world import World

_TOGETHER, _CLAIMS = 4, 5


def test_it_is_a_dead_letter_after_five_claims_and_its_neighbours_arrive(world: World) -> None:
    poison = world.person(email="x+stall+receipt-never@sandbox.example")
    good = world.person(email="x+receipt-never@sandbox.example")
    service = world.service("auth-service")
    first, *neighbours = service.notify_all([world.otp(each) for each in (poison, *[good] * 4)])
    bad, rest = UUID(first), [UUID(each) for each in neighbours]
    for claim in range(1, _CLAIMS + 1):
        _is_called(world, bad, times=claim)
        if claim > _TOGETHER:  # each is alone now, so that the others come through
            world.in_status(Status.SENT, rest)
        world.processes["p0"].kill()
        world.start("p0")
        world.expire_waits([bad, *rest])
    world.in_status(Status.FAILED, [bad])
    world.in_status(Status.SENT, rest)
    assert world.shown(rest) == [1] * len(rest)
    [letter] = world.rows(
        "SELECT reason FROM notifications_deadletter WHERE notification_of(delivery_id) = %s", bad
    )
    assert letter["reason"] == "poison"
    assert world.got([bad])[bad]["call_count"] == _CLAIMS


def _is_called(world: World, delivery: UUID, *, times: int) -> None:
    def is_under_way() -> bool:
        got = world.got([delivery])
        return bool(got) and got[delivery]["call_count"] == times

    until(is_under_way, what=f"its call {times} is under way")
