"""The container of a small installation: killed processes lose nothing and repeat nothing.

The command and the variables are those of docker-compose.yml, on servers with passwords.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import psutil
import pytest

from notifications.core.rules.states import Status
from notifyproj.all_in_one.programs import PagePorts, table
from notifyproj.devstack.demo.environment import Unexpected, until
from notifyproj.devstack.ports import LOOPBACK
from tests.brokers import valkey_only
from tests.scenarios.container import Container, all_in_one, env_file, passwords
from tests.scenarios.world import World

pytestmark = valkey_only

_PASSWORD: Final = "p@ss/w:rd#1%25"
"""Of the two Valkeys: a URL with this password unquoted names another server."""
_WITHIN: Final = timedelta(seconds=120)
_NAMES: Final = {each.name for each in table(PagePorts(), host=LOOPBACK)}
_WORKERS: Final = {"p0", "p0-2", "p1", "bulk", "ops", "background"}
_STOP_SECONDS: Final = 60.0


@pytest.fixture
def world(_world: World) -> World:
    """The servers and an empty sandbox, without the other processes of the scenarios."""
    _world.stop()
    _world.start("sandbox")
    return _world


@pytest.fixture
def container(world: World, tmp_path: Path) -> Iterator[Container]:
    # A sweep that the processes of the scenarios do not run would be late for ever afterwards.
    swept = [row["name"] for row in world.rows("SELECT name FROM notifications_sweeprun")]
    it = all_in_one(
        world.stack,
        ports=world.ports,
        values=_env_file(world),
        var=tmp_path,
    )
    with passwords(world.stack, _PASSWORD):
        try:
            yield it
        finally:
            it.kill()
            world.rows("DELETE FROM notifications_sweeprun WHERE name <> ALL(%s)", swept)


def _env_file(world: World) -> dict[str, str]:
    return {
        **env_file(world.environ, redis_password=_PASSWORD),
        "NOTIFY_FLOWER_PASSWORD": "opens-only-this-flower",
        "NOTIFY_LIVE_URL": f"http://{LOOPBACK}:{world.ports.live}",
    }


def _start(container: Container) -> None:
    container.start()
    until(container.answers_check, what="the container is healthy", within=_WITHIN)


def _processes(container: Container) -> dict[str, psutil.Process]:
    """Return the processes of the table that run, by name."""
    assert container.pid is not None
    found = {}
    for each in psutil.Process(container.pid).children():
        with suppress(psutil.NoSuchProcess):  # ended since the list was made
            words = " ".join(each.cmdline()).split()
            if words[:1] == ["notify"]:
                found[words[1]] = each
    return found


def _person(world: World) -> str:
    return world.person(
        email="x@sandbox.example", sms="+15552000007", push=f"token-{uuid4().hex}-0123456789abcdef"
    )


def _send_each(world: World, somebody: str) -> list[UUID]:
    """Send a notification of each priority, on three channels."""
    return [
        world.send_otp(somebody),
        *world.send_mails(1, user_id=somebody, priority="P1"),
        *world.send_mails(1, user_id=somebody, priority="P1", channels=["push"]),
        *world.send_mails(1, user_id=somebody, channels=["sms"]),
        *world.send_mails(1, user_id=somebody),
        *world.send_mails(1, user_id=somebody, priority="P3"),
    ]


def _readyz(world: World) -> dict[str, Any]:
    return world.service("operator").ask("GET", "/readyz").body


def test_each_notification_arrives_once_although_each_worker_is_killed_once(
    world: World, container: Container
) -> None:
    _start(container)
    first = _processes(container)
    assert first.keys() == _NAMES
    until(lambda: _readyz(world)["wrong"] == [], what="/readyz is ready", within=_WITHIN)
    somebody = _person(world)
    sent = _send_each(world, somebody)
    for name in sorted(_WORKERS):
        os.kill(first[name].pid, signal.SIGKILL)
        sent += _send_each(world, somebody)
    told = "p1 ended 1 times and was started again"
    until(lambda: _is_told(container, told), what="the health check names the worker")
    until(lambda: told in str(_readyz(world)["wrong"]), what="/readyz names the worker")
    assert _readyz(world)["status"] == "degraded"
    world.in_status(Status.DELIVERED, sent, within=_WITHIN)
    assert world.shown(sent) == [1] * len(sent)
    assert "broker_away" not in container.log.read_text()
    again = until(lambda: _all_of(container), what="each process runs again", within=_WITHIN)
    assert {name for name in _NAMES if again[name].pid != first[name].pid} == _WORKERS


def _all_of(container: Container) -> dict[str, psutil.Process]:
    found = _processes(container)
    return found if found.keys() == _NAMES else {}


def test_a_killed_supervisor_leaves_no_process(container: Container) -> None:
    _start(container)
    assert container.pid is not None
    family = psutil.Process(container.pid).children(recursive=True)
    assert len(family) > len(_NAMES)  # web has a process for its requests
    os.kill(container.pid, signal.SIGKILL)
    _, alive = psutil.wait_procs(family, timeout=30)
    assert [each for each in alive if each.status() != psutil.STATUS_ZOMBIE] == []


def test_a_stop_lets_calls_end_and_hands_the_rest_back(world: World, container: Container) -> None:
    _start(container)
    slow = world.person(email="x+slow-5s+receipt-never@sandbox.example")
    sent = world.send_mails(4, user_id=slow, priority="P1")
    until(lambda: len(world.got(sent)) == len(sent), what="the calls are in flight")
    container.ask_to_stop()
    assert container.wait_for_end(_STOP_SECONDS)
    assert container.exit_code == 0
    assert set(world.statuses(sent)) == {Status.SENT}
    assert world.shown(sent) == [1] * len(sent)
    assert "killed_after_time_to_stop" not in container.log.read_text()


def test_a_stop_while_postgres_is_away_leaves_answers_to_the_rescue(
    world: World, container: Container
) -> None:
    _start(container)
    slow = world.person(email="x+slow-5s+receipt-never@sandbox.example")
    sent = world.send_mails(4, user_id=slow, priority="P1")
    until(lambda: len(world.got(sent)) == len(sent), what="the calls are in flight")
    assert set(world.statuses(sent)) == {Status.SENDING}
    world.stack.postgres.kill()
    try:
        container.ask_to_stop()
        assert container.wait_for_end(_STOP_SECONDS)
    finally:
        world.stack.postgres.start()
    assert container.exit_code == 0
    log = container.log.read_text()
    assert "outcomes_left_to_rescue" in log
    assert "killed_after_time_to_stop" not in log
    _start(container)
    world.in_status(Status.SENT, sent, within=_WITHIN)
    assert all("accepted_before_crash" in world.reasons(each) for each in sent)
    assert world.shown(sent) == [1] * len(sent)


def test_a_frozen_postgres_holds_no_process_at_a_stop(world: World, container: Container) -> None:
    _start(container)
    until(lambda: _readyz(world)["wrong"] == [], what="/readyz is ready", within=_WITHIN)
    assert world.stack.postgres.pid is not None
    postmaster = psutil.Process(world.stack.postgres.pid)
    frozen = [postmaster, *postmaster.children(recursive=True)]
    for each in frozen:
        each.suspend()
    try:
        until(lambda: "server is frozen" in container.log.read_text(), what="a process notices")
        container.ask_to_stop()
        assert container.wait_for_end(_STOP_SECONDS)
    finally:
        for each in frozen:
            with suppress(psutil.NoSuchProcess):
                each.resume()
    assert container.exit_code == 0
    assert "killed_after_time_to_stop" not in container.log.read_text()


def test_a_taken_port_makes_the_container_unhealthy_and_stops_no_other_process(
    world: World, container: Container
) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((LOOPBACK, world.ports.live))
        taken.listen()
        container.start()
        until(lambda: _is_told(container, "live is down"), what="live is down", within=_WITHIN)
        until(lambda: _readyz_answers(world), what="web answers", within=_WITHIN)
        somebody = _person(world)
        sent = _send_each(world, somebody)
        world.in_status(Status.DELIVERED, sent, within=_WITHIN)
        assert _is_told(container, "live")
        assert _processes(container).keys() >= _NAMES - {"live"}


def _is_told(container: Container, words: str) -> bool:
    """Return True if the health check fails with these words."""
    return not container.answers_check() and words in container.told


def _readyz_answers(world: World) -> bool:
    try:
        return "status" in _readyz(world)
    except (OSError, Unexpected):
        return False
