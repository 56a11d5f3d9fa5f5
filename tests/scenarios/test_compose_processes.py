"""The processes of docker-compose.yml work with the commands and variables of the file.

The passwords contain each character that a URL reserves.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.request import Request, urlopen
from uuid import UUID

import pytest
import redis

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.ports import LOOPBACK
from notifyproj.devstack.supervisor.process import ROOT
from tests import roles
from tests.brokers import valkey_only
from tests.scenarios import rule_series
from tests.scenarios.container import SERVICES, Container, env_file, places
from tests.scenarios.rule_series import Sample
from tests.scenarios.world import World

pytestmark = valkey_only

_PASSWORD: Final = "p@ss/w:rd#1%25"
"""Of the two Valkeys: a URL with this password unquoted names another server."""
_FLOWER_PASSWORD: Final = "opens-only-this-flower"
_STARTED: Final = [
    name for name in SERVICES if name in {"web", "live", "beat", "flower"} or "worker-" in name
]
_CHECKS_AT_A_TIME: Final = 3
_WITHIN: Final = timedelta(seconds=120)


@pytest.fixture
def world(_world: World) -> World:
    """The servers and an empty sandbox, without the other processes of the scenarios."""
    _world.stop()
    _world.start("sandbox")
    return _world


@pytest.fixture
def containers(world: World, tmp_path: Path) -> Iterator[dict[str, Container]]:
    """Every process of the file except the servers, on the servers of the scenarios."""
    here = places(world.stack, world.ports)
    made = {
        name: Container(name, values=_env_file(world), places=here, var=tmp_path)
        for name in _STARTED
    }
    # A sweep that the processes of the scenarios do not run would be late for ever afterwards.
    swept = [row["name"] for row in world.rows("SELECT name FROM notifications_sweeprun")]
    servers = (world.stack.state, world.stack.broker)
    with redis.from_url(servers[0].url) as state, redis.from_url(servers[1].url) as broker:
        for client in (state, broker):  # a second password of the default user
            client.acl_setuser("default", enabled=True, passwords=[f"+{_PASSWORD}"])
        try:
            for each in made.values():
                each.start()
            yield made
        finally:
            for each in made.values():
                each.kill()
            for client in (state, broker):
                client.acl_setuser("default", enabled=True, passwords=[f"-{_PASSWORD}"])
            world.rows("DELETE FROM notifications_sweeprun WHERE name <> ALL(%s)", swept)


def _env_file(world: World) -> dict[str, str]:
    return {
        **env_file(world.environ, redis_password=_PASSWORD),
        "NOTIFY_FLOWER_PASSWORD": _FLOWER_PASSWORD,
        "NOTIFY_LIVE_URL": f"http://{LOOPBACK}:{world.ports.live}",
    }


def _unhealthy(containers: Mapping[str, Container]) -> list[str]:
    workers = {name: each for name, each in containers.items() if name.startswith("worker-")}
    others = [each for name, each in containers.items() if name not in workers]
    with ThreadPoolExecutor(_CHECKS_AT_A_TIME) as threads:
        silent = threads.submit(_silent, workers)
        healthy = list(threads.map(Container.is_healthy, others))
    return silent.result() + [
        f"{each.name}: {each.told[-500:]}"
        for each, is_healthy in zip(others, healthy, strict=True)
        if not is_healthy
    ]


def _silent(workers: Mapping[str, Container]) -> list[str]:
    """Run the one health check of all workers with all their names; return those that are silent.

    A run costs seconds of a processor. Celery takes names with commas between them.
    """
    [first, *others] = workers.values()
    assert all(each.check == first.check for each in others)
    silent = set(workers)
    for _ in range(first.retries):
        if silent:
            first.answers_check(HOSTNAME=",worker@".join(silent))
            silent -= {name for name in silent if f"worker@{name}: OK" in first.told}
    return sorted(silent)


def _wait_ready(containers: Mapping[str, Container]) -> None:
    """Wait for each process; a worker's health check costs seconds of a processor, its log none."""
    for name, each in containers.items():
        is_ready = each.says_ready if "worker-" in name else each.is_healthy
        until(is_ready, what=f"{name} is ready", within=_WITHIN)


def _flower(world: World, path: str) -> bytes:
    token = base64.b64encode(f"operator:{_FLOWER_PASSWORD}".encode()).decode()
    url = f"http://{LOOPBACK}:{world.ports.flower}{path}"
    with urlopen(
        Request(url, headers={"Authorization": f"Basic {token}"}),
        timeout=30,
    ) as answer:
        text: bytes = answer.read()
    return text


def _delivered_by_broker(world: World) -> list[str]:
    """Return the workers that took a message of deliveries from the broker, as Flower saw them."""
    found = json.loads(_flower(world, "/api/tasks?limit=1000"))
    tasks = [each for each in found.values() if each["name"].startswith("deliver_")]
    return [each["worker"] for each in tasks if each["state"] == "SUCCESS"]


def test_every_process_of_the_file_signs_in_and_works(
    world: World, containers: dict[str, Container]
) -> None:
    _wait_ready(containers)
    assert _unhealthy(containers) == []
    somebody = world.person(email="x@sandbox.example", sms="+15552000007")
    sent: list[UUID] = []

    def has_each_taken_from_the_broker() -> bool:
        # Repeated, because a worker that has just started takes what is due from Postgres, too.
        sent.extend(world.send_otp(somebody) for _ in range(5))
        sent.extend(world.send_mails(20, user_id=somebody, priority="P1"))
        sent.extend(world.send_mails(20, user_id=somebody))
        sent.extend(world.send_mails(5, user_id=somebody, channels=["sms"]))
        world.in_status(Status.DELIVERED, sent, within=_WITHIN)
        return workers <= set(_delivered_by_broker(world))

    workers = {"worker@worker-p0", "worker@worker-p1", "worker@worker-email", "worker@worker-sms"}
    until(
        has_each_taken_from_the_broker,
        what="workers took their messages from the broker",
        within=_WITHIN,
    )
    wrong = world.service("operator").ask("GET", "/readyz").body["wrong"]
    assert [line for line in wrong if "broker" in line or "state Redis" in line] == []
    _no_secret_is_shown(world, containers)
    # A call that fails, for the series of failing calls.
    again = world.send_mails(1, user_id=world.person(email="x+503x1@sandbox.example"))
    world.in_status(Status.DELIVERED, again, within=_WITHIN)
    assert rule_series.missing(_scraped(world, containers)) == {}


def _scraped(world: World, containers: Mapping[str, Container]) -> list[Sample]:
    """Scrape each process as the configurations of docs do: the Host header is an IP address."""
    places = {"web": world.ports.web, "live": world.ports.live}
    found: list[Sample] = []
    for name, each in containers.items():
        if name != "flower":
            place = f"{LOOPBACK}:{places[name]}" if name in places else each.metrics
            asked = Request(f"http://{place}/metrics", headers={"Host": "10.1.2.3:8000"})
            with urlopen(asked, timeout=30) as answer:  # noqa: S310 - as above
                found += rule_series.parse(answer.read().decode())
    return found


def _no_secret_is_shown(world: World, containers: Mapping[str, Container]) -> None:
    worker = containers["worker-p0"]
    report = subprocess.run(
        ["/usr/bin/env", "celery", "-A", "notifyproj", "report"],
        cwd=ROOT,
        env=worker.environ,
        capture_output=True,
        check=True,
    ).stdout
    assert b"broker_url" in report
    shown = {
        "celery report": report,
        **{f"log of {name}": each.log.read_bytes() for name, each in containers.items()},
        **{
            f"command line of {name}": Path(f"/proc/{each.pid}/cmdline").read_bytes()
            for name, each in containers.items()
        },
        **{
            f"Flower {path}": _flower(world, path)
            for path in (
                "/broker",
                "/workers",
                "/worker/worker@worker-p0",
                "/api/workers?refresh=1",
            )
        },
    }
    for secret in (_PASSWORD, "p%40ss%2Fw%3Ard%231%2525", roles.PASSWORDS["app"]):
        assert [name for name, text in shown.items() if secret.encode() in text] == []
