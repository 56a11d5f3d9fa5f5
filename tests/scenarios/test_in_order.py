"""A worker killed amid a line: the others still come in order, and none is lost."""

from __future__ import annotations

from uuid import UUID

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.scenarios.world import World


def test_killed_amid_a_line_the_order_stays(world: World) -> None:
    somebody = world.person(email="x+slow-300ms+receipt-never@sandbox.example")
    line = world.send_mails(8, user_id=somebody, priority="P1", ordering_key="killed")
    worker = world.processes["channels"]
    for killed_after in (2, 4):
        _arrive(world, line, at_least=killed_after)
        worker.kill()
        world.start("channels")
        world.expire_waits(_in_hand(world, line))
    world.in_status(Status.SENT, line)
    got = world.got(line)
    assert [got[each]["shown"] for each in line] == [1] * len(line)
    arrived = [got[each]["first_at"] for each in line]
    assert arrived == sorted(arrived)
    assert not any("order_let_go" in world.reasons(each) for each in line)


def _arrive(world: World, line: list[UUID], *, at_least: int) -> None:
    until(lambda: len(world.got(line)) >= at_least, what=f"{at_least} have arrived")


def _in_hand(world: World, line: list[UUID]) -> list[UUID]:
    """Those that the dead worker held: their leases are over. The others' waits are left alone."""
    held = [row for row in world.deliveries(line) if row["status"] == Status.SENDING]
    return [UUID(int=row["id"].int & ~0xFFF) for row in held]
