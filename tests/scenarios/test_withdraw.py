"""A withdrawal that was answered with 202 reaches the device, although its process is killed."""

from __future__ import annotations

from uuid import UUID

from notifications.core.rules.ids import delivery_id
from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.scenarios.world import World


def _push(world: World, address: str) -> UUID:
    user = world.person(push=address)
    [push] = world.send_mails(1, user_id=user, channels=["push"], priority="P1")
    world.in_status(Status.DELIVERED, [push])
    return push


def _withdraw(world: World, push: UUID) -> None:
    answer = world.service("order-service").ask("POST", f"/v1/notifications/{push}/withdraw", {})
    assert [each["withdrawal"] for each in answer.body["deliveries"]] == ["withdrawing"]


def _effects(world: World, push: UUID) -> list[str]:
    return [each["effect"] for each in world.got([push])[push]["calls"]]


def _until_withdrawn(world: World, push: UUID) -> None:
    until(lambda: "withdrawn" in world.reasons(push), what="the withdrawal has ended")


def test_killed_between_the_answer_and_the_call(world: World) -> None:
    push = _push(world, "device-1")
    world.processes["ops"].kill()
    _withdraw(world, push)
    world.processes["web"].kill()
    assert _effects(world, push) == ["shown"]
    world.start("web", "ops")
    _until_withdrawn(world, push)
    assert _effects(world, push) == ["shown", "withdrawn"]
    assert world.statuses([push]) == [Status.DELIVERED]


def test_killed_during_the_call(world: World) -> None:
    push = _push(world, "device-2")
    before = len(_effects(world, push))
    slow = "UPDATE notifications_contact SET address = %s WHERE address = 'device-2'"
    world.rows(slow, "device+slow-3s")
    _withdraw(world, push)
    until(lambda: len(_effects(world, push)) > before, what="the call has arrived")
    world.processes["ops"].kill()
    assert "withdrawn" not in world.reasons(push)
    world.rows("UPDATE withdrawal SET due_at = now() WHERE delivery_id = %s", delivery_id(push, 1))
    world.start("ops")
    _until_withdrawn(world, push)
    assert _effects(world, push)[before:] == ["withdrawn", "duplicate"]
    assert world.reasons(push).count("withdrawn") == 1
