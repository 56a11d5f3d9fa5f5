"""What an engineer who knows Celery finds in Flower: tasks by channel, and retries as retries."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from notifications.core.rules.states import Status
from notifications.core.sweeps import relay
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.ports import LOOPBACK
from notifyproj.devstack.supervisor.process import Process
from tests.scenarios.world import World

_PASSWORD = "opens-only-this-flower"


@pytest.fixture
def flower(world: World) -> Iterator[Process]:
    process = world.process("flower", NOTIFY_FLOWER_PASSWORD=_PASSWORD)
    process.start()
    process.wait_ready()
    somebody = world.person(email="x@sandbox.example")

    def sees_a_code() -> list[dict[str, Any]]:
        world.send_otp(somebody)
        return _tasks(world, "deliver_email")

    until(sees_a_code, what="Flower listens to events")  # it answers before it does
    yield process
    process.kill()


def _tasks(world: World, name: str) -> list[dict[str, Any]]:
    token = base64.b64encode(f"operator:{_PASSWORD}".encode()).decode()
    request = Request(
        f"http://{LOOPBACK}:{world.ports.flower}/api/tasks?taskname={name}",
        headers={"Authorization": f"Basic {token}"},
    )
    with urlopen(request, timeout=10) as answer:  # noqa: S310 - a loopback address of our own
        found: dict[str, dict[str, Any]] = json.load(answer)
    return list(found.values())


@pytest.mark.usefixtures("flower")
def test_a_retry_is_seen_as_a_retry_with_its_countdown(world: World) -> None:
    somebody = world.person(email="x+503x1@sandbox.example")
    [mail] = world.send_mails(1, user_id=somebody, priority="P1")
    [task] = until(
        lambda: [each for each in _tasks(world, "deliver_email") if each["retried"]],
        what="Flower shows a retry",
    )
    assert task["args"] == "p1.email, 1 delivery"
    assert "TryAgain('p1.email, 1 delivery in " in task["exception"]
    world.in_status(Status.DELIVERED, [mail])


@pytest.mark.usefixtures("flower")
def test_tasks_are_named_by_channel_and_tell_lane_and_count(world: World) -> None:
    somebody = world.person(email="x@sandbox.example", sms="+15552000007")
    world.send_mails(37, user_id=somebody, priority="P1")
    world.send_mails(1, user_id=somebody, channels=["sms"])
    until(lambda: _tasks(world, "deliver_sms"), what="Flower shows the text")
    names = ("deliver_email", "deliver_sms")
    found = {(task["name"], task["args"]) for name in names for task in _tasks(world, name)}
    assert found >= {
        ("deliver_email", "p1.email, 37 deliveries"),
        ("deliver_sms", f"p2.sms, up to {relay.SMALLEST_MESSAGE} deliveries"),
    }


@pytest.mark.usefixtures("flower")
def test_every_page_asks_for_the_password(world: World) -> None:
    for path in ("/", "/metrics", "/api/workers", "/tasks"):
        for password in ("", "wrong", "größe"):
            token = base64.b64encode(f"operator:{password}".encode()).decode()
            headers = {"Authorization": f"Basic {token}"} if password else {}
            request = Request(f"http://{LOOPBACK}:{world.ports.flower}{path}", headers=headers)
            with pytest.raises(HTTPError) as refused:
                urlopen(request, timeout=10)  # noqa: S310 - a loopback address of our own
            with refused.value:
                assert refused.value.code == 401, (path, password)
