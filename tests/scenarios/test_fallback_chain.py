"""An OTP reaches its person by the next channel: without a receipt, and during an outage."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid4

import redis

from notifications.core.rules.rate_limits.circuit_breaker import PROBE_EVERY
from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from providers.contract import Channel
from tests.scenarios.world import World
from tests.store.ageing import age

_CODES = 200
_LATEST = timedelta(minutes=2)
"""For fifty codes, on a busy machine."""
_CHAIN = {"channels": ["push", "sms"], "fallback_chain": True}


def _people(world: World, count: int, *, push: str) -> list[str]:
    """Return people with a phone each and numbers of one range.

    A number may have ten SMS in ten minutes. `push` is what the sandbox does with a push.
    """
    begins = f"+55119{uuid4().int % 10_000:04}"
    numbers = [f"{begins}{number:04}" for number in range(count)]
    return [world.person(push=f"phone{number[1:]}{push}", sms=number) for number in numbers]


def _send(world: World, people: list[str], count: int) -> list[UUID]:
    batch = [world.otp(people[number % len(people)], **_CHAIN) for number in range(count)]
    return [UUID(each) for each in world.service("auth-service").notify_all(batch)]


def _statuses(world: World, codes: list[UUID], channel: Channel) -> set[Status]:
    rows = world.deliveries(codes)
    return {Status(row["status"]) for row in rows if row["channel"] == channel.value}


def _shown(world: World, codes: list[UUID]) -> dict[str, list[int]]:
    wanted = {str(each) for each in codes}
    got = [each for each in world.sandbox.messages() if each["notification_id"] in wanted]
    return {
        name: [each["shown"] for each in got if each["channel"] == name and each["shown"]]
        for name in ("push", "sms")
    }


def test_an_unconfirmed_push_is_followed_by_one_sms(world: World) -> None:
    people = _people(world, 1, push=".receipt-never")
    codes = _send(world, people, 5)
    until(
        lambda: _statuses(world, codes, Channel.SMS) == {Status.DELIVERED},
        what="every SMS is delivered",
    )
    assert _statuses(world, codes, Channel.PUSH) == {Status.UNCONFIRMED}
    assert _shown(world, codes) == {"push": [1] * 5, "sms": [1] * 5}
    told = world.reasons(codes[0])
    assert told.index("unconfirmed") < told.index("fallback")


def test_an_outage_of_push_moves_codes_to_sms_until_a_probe_succeeds(world: World) -> None:
    people = _people(world, 40, push="")
    world.sandbox.steer("503", "push")
    codes = _send(world, people, _CODES)
    until(
        lambda: len(_shown(world, codes)["sms"]) == _CODES,
        what="every code has left by SMS",
    )
    assert _shown(world, codes) == {"push": [], "sms": [1] * _CODES}
    assert _statuses(world, codes, Channel.PUSH) == {Status.FAILED}
    assert not world.rows("SELECT id FROM notifications_deadletter WHERE reason = 'escalated'")
    world.sandbox.steer("")
    with redis.Redis.from_url(world.stack.state.url) as client:
        age(PROBE_EVERY, client)
    after = _send(world, people, 1)  # the probe
    world.settled(after)
    more = _send(world, people, 20)
    until(
        lambda: _statuses(world, more, Channel.PUSH) == {Status.DELIVERED},
        what="codes go by push again",
    )
    assert _shown(world, more) == {"push": [1] * 20, "sms": []}


def test_killed_workers_open_no_channel_twice(world: World) -> None:
    people = _people(world, 10, push=".400")
    codes = _send(world, people, 50)
    world.kill_and_restart(world.processes["p0"])
    until(
        lambda: len(_shown(world, codes)["sms"]) == len(codes),
        what="every code has left by SMS",
        within=_LATEST,
    )
    world.settled(codes, within=_LATEST)
    assert _shown(world, codes)["sms"] == [1] * len(codes)
    rows = world.deliveries(codes)
    assert len([row for row in rows if row["channel"] == Channel.SMS.value]) == len(codes)
