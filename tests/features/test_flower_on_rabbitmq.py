"""Compose's Flower on RabbitMQ: lengths of queues from the plugin, and service without it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest

from notifications.core import lanes
from notifications.core.rules.lane import LANES
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.servers.rabbitmq import RabbitMQ
from notifyproj.devstack.supervisor.process import Process
from notifyproj.devstack.supervisor.programs import Answers, Ports, Program
from tests.architecture import compose
from tests.brokers import rabbitmq_only

pytestmark = rabbitmq_only

_PASSWORD: Final = "opens-only-this-flower"
_FAILED: Final = "RabbitMQ management API call failed"


@pytest.fixture
def management(node: RabbitMQ) -> Iterator[None]:
    """The plugin, for a user who may only read what is in the own virtual hosts."""
    node.ctl("set_user_tags", "notify", "management")
    with node.management():
        yield
    node.ctl("set_user_tags", "notify", "administrator")


@pytest.fixture
def flower(node: RabbitMQ, tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start Flower with the command of compose, and with further variables."""
    line = [*compose.services()["flower"]["command"]]
    line[line.index("--address=0.0.0.0")] = f"--address={LOOPBACK}"
    line[line.index("--port=5555")] = "--port={flower}"
    program = Program(
        name="flower", arguments=("-m", *line), ready=Answers("flower", "/healthcheck")
    )
    started: list[Process] = []

    def start(**variables: str) -> Process:
        environ = {
            "CELERY_BROKER_URL": f"amqp://notify@{LOOPBACK}:{node.port}//",
            "CELERY_BROKER_PASSWORD": node.password,
            "NOTIFY_FLOWER_PASSWORD": _PASSWORD,
            "PATH": "/usr/bin:/bin",
            **variables,
        }
        ports = Ports(flower=free_port(f"{tmp_path}/flower"))
        process = Process(program, ports=ports, environ=environ, var=tmp_path)
        started.append(process)
        process.start()
        process.wait_ready()
        return process

    yield start
    for each in started:
        each.kill()


def _page(flower: Process, path: str) -> str:
    token = base64.b64encode(f"operator:{_PASSWORD}".encode()).decode()
    url = f"http://{LOOPBACK}:{flower._ports.flower}{path}"
    request = Request(url, headers={"Authorization": f"Basic {token}"})
    with urlopen(request, timeout=30) as answer:  # noqa: S310 - a loopback address of our own
        text: str = answer.read().decode()
    return text


def _lengths(flower: Process) -> dict[str, int]:
    found = json.loads(_page(flower, "/api/queues/length"))["active_queues"]
    return {each["name"]: each["messages"] for each in found if "messages" in each}


@pytest.mark.usefixtures("management")
def test_the_length_of_each_lane_is_shown(node: RabbitMQ, flower: Callable[..., Process]) -> None:
    node.purge()
    for number, lane in enumerate(LANES):
        for _ in range(number % 3):
            lanes.publish(lane, [[uuid4()]])
    expected = {lane.name: number % 3 for number, lane in enumerate(LANES)}
    started = flower(FLOWER_BROKER_API=node.management_api.removesuffix("/"))
    until(
        lambda: expected.items() <= _lengths(started).items(),
        what="the plugin has counted",
    )
    page = _page(started, "/broker")
    assert all(f'<tr id="{name}">' in page for name in expected)
    assert node.password not in started.log.read_text() + page


def test_without_the_plugin_the_page_is_empty_and_the_log_says_why(
    flower: Callable[..., Process],
) -> None:
    started = flower()
    assert _lengths(started) == {}
    assert "No queue data is available." in _page(started, "/broker")
    assert _page(started, "/workers")
    log = started.log.read_text()
    assert log.count(_FAILED) == 2
    assert "Traceback" not in log
    assert f"come from http://{LOOPBACK}:15672/api/ (FLOWER_BROKER_API names another)" in log
