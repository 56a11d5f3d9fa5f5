"""An operator stops a flow that is under way: two seconds later nothing leaves; nothing is lost.

The producer goes on while the switch is set, so that messages are published, claimed and sent at
each moment. Workers and sweeps are killed while deliveries wait. After the resume every message is
sent once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import UUID

import pytest

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import now, until
from tests.scenarios.world import World, seconds_since

_HEEDED = 2.0
"""Seconds in which every process heeds a switch."""
_MAILS = 400
_MORE = 20
_SLOW = "x+slow-300ms@sandbox.example"


@pytest.fixture
def world(world: World) -> Iterator[World]:
    yield world
    world.rows("UPDATE notifications_switch SET resumed_at = now() WHERE resumed_at IS NULL")


def _hold(world: World, *, meanwhile: Callable[[], object] = lambda: None, **switch: str) -> int:
    """Set a switch; calls `meanwhile` again and again until every process heeds the switch."""
    body = {"reason": "the text is wrong", **switch}
    made: int = world.service("operator").ask("POST", "/v1/switches", body).body["id"]
    began = now()

    def is_heeded() -> bool:
        meanwhile()
        return seconds_since(began) > _HEEDED

    until(is_heeded, what="every process heeds the switch")
    return made


def _let_go(world: World, switch: int) -> None:
    world.service("operator").ask("DELETE", f"/v1/switches/{switch}", None)


def _all_held(world: World, notifications: list[UUID], reason: str) -> None:
    until(
        lambda: {row["reason"] for row in world.deliveries(notifications)} == {reason},
        what="all are held",
    )


def test_a_flow_stops_in_the_middle_and_every_message_is_sent_once(world: World) -> None:
    somebody = world.person(email=_SLOW)
    mails = world.send_mails(_MAILS, user_id=somebody)
    world.until_more_than(0, mails)

    def send_more() -> None:
        mails.extend(world.send_mails(_MORE, user_id=somebody))

    switch = _hold(world, meanwhile=send_more, kind="type", value="ORDER_SHIPPED")
    sent = set(world.got(mails))
    rest = [each for each in mails if each not in sent]
    assert rest
    new = world.send_mails(5, user_id=somebody, priority="P1")
    _all_held(world, rest + new, "paused")
    for name in ("p0", "channels", "ops"):
        world.processes[name].kill()
    world.start("p0", "channels", "ops")
    code = world.send_otp(somebody)
    world.in_status(Status.DELIVERED, [code])  # another type goes on
    assert set(world.got(mails + new)) == sent
    _let_go(world, switch)
    world.processes["ops"].kill()
    world.start("ops")
    world.in_status(Status.DELIVERED, mails + new)
    assert world.shown(mails + new) == [1] * len(mails + new)
    held = world.deliveries(rest + new)
    assert [row["attempts"] for row in held] == [1] * len(held)


def test_a_held_provider_holds_p0_and_lets_it_go(world: World) -> None:
    switch = _hold(world, kind="provider", value="sandbox", channel="email")
    somebody = world.person(email="x@sandbox.example", sms="+15552000007")
    code = world.send_otp(somebody)
    [text] = world.send_mails(1, user_id=somebody, channels=["sms"])
    _all_held(world, [code], "channel_paused")
    world.in_status(Status.DELIVERED, [text])
    assert not world.got([code])
    _let_go(world, switch)
    world.in_status(Status.DELIVERED, [code])
    assert world.shown([code]) == [1]


def test_an_expiry_ends_the_pause_without_an_operator(world: World) -> None:
    [row] = world.rows("SELECT now() + interval '6 seconds' AS end")
    switch = {"kind": "lane", "value": "p1.email", "expires_at": row["end"].isoformat()}
    _hold(world, **switch)
    [mail] = world.send_mails(1, user_id=world.person(email="x@sandbox.example"), priority="P1")
    _all_held(world, [mail], "channel_paused")
    assert not world.got([mail])
    world.in_status(Status.DELIVERED, [mail])
    assert world.shown([mail]) == [1]
