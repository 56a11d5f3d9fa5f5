"""A provider in trouble is left alone and probed; a slow one gets no more than it can take.

Nothing is lost either way, and nobody gets a message twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
import redis

from notifications.core.rules.rate_limits.circuit_breaker import PROBE_EVERY
from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import now, until
from tests.scenarios.world import World, seconds_since
from tests.store.ageing import age

_DOWN = 20
_BURST, _PER_SECOND = 5, 10
_ROUNDING = timedelta(milliseconds=20)
"""Redis counts in milliseconds, and the provider takes the time of another process's clock."""
_HEEDED = 2.0
"""Seconds in which every process heeds what an operator has set."""


@pytest.fixture
def _slow(world: World) -> Iterator[None]:
    """`_BURST` at once and `_PER_SECOND` after that."""
    world.rows(
        "INSERT INTO notifications_providerpace (provider, burst, per_second)"
        " VALUES ('sandbox', %s, %s)",
        _BURST,
        _PER_SECOND,
    )
    began = now()
    until(lambda: seconds_since(began) > _HEEDED, what="every process has read it")
    yield
    world.rows("DELETE FROM notifications_providerpace")


def _events(world: World) -> list[str]:
    found = world.rows("SELECT kind FROM notifications_breakerevent ORDER BY id DESC LIMIT 3")
    return [row["kind"] for row in reversed(found)]


def test_what_fails_in_a_row_is_spared_until_a_probe_is_answered(world: World) -> None:
    somebody = world.person(sms="+15552000007")
    world.sandbox.steer("503", "sms")
    texts = world.send_mails(_DOWN, user_id=somebody, channels=["sms"])
    until(
        lambda: {row["reason"] for row in world.deliveries(texts)} == {"breaker"},
        what="all are held by the breaker",
    )
    texts += world.send_mails(_DOWN, user_id=somebody, channels=["sms"])
    world.sandbox.steer("")
    with redis.Redis.from_url(world.stack.state.url) as client:
        age(PROBE_EVERY, client)
    world.expire_waits(texts)
    world.in_status(Status.DELIVERED, texts)
    assert _events(world) == ["tripped", "probed", "closed"]
    assert world.shown(texts) == [1] * len(texts)
    assert [row["attempts"] for row in world.deliveries(texts)[_DOWN:]] == [1] * _DOWN


@pytest.mark.usefixtures("_slow")
def test_a_slow_provider_gets_what_it_can_take(world: World) -> None:
    somebody = world.person(email="x@sandbox.example")
    began = now()
    mails = world.send_mails(30, user_id=somebody)
    mails += world.send_mails(10, user_id=somebody, priority="P1")
    world.in_status(Status.DELIVERED, mails)
    assert world.shown(mails) == [1] * len(mails)
    got = world.got(mails).values()
    came = sorted(datetime.fromisoformat(call["at"]) for each in got for call in each["calls"])
    assert len(came) == len(mails)
    # A stall of the machine delays calls and makes none earlier, so call n is compared with the
    # earliest time of its token, counted from before the first message.
    tokens = [began + timedelta(seconds=max(0, n - _BURST + 1) / _PER_SECOND) for n in range(40)]
    early = {n: token - at for n, (token, at) in enumerate(zip(tokens, came, strict=True))}
    assert {n: by for n, by in early.items() if by > _ROUNDING} == {}
