"""Thousands of slow clients take no thread that works: everybody else is answered meanwhile."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from notifyproj.devstack.demo.environment import now, until
from notifyproj.devstack.ports import LOOPBACK
from tests.scenarios.world import World, seconds_since
from tests.slow_clients import BODY, HEAD, PIPELINED, READER, held, slow_clients

_CLIENTS: Final = 2_000
_SOON: Final = "2"
_LONG: Final = timedelta(seconds=60)


def _restart(world: World, **environ: str) -> None:
    world.processes["web"].kill()
    world.processes["web"] = world.process("web", **environ)
    world.start("web")


@pytest.fixture
def _impatient(world: World) -> Iterator[None]:
    """A web process that waits two seconds for a client."""
    _restart(world, NOTIFY_HEAD_SECONDS=_SOON, NOTIFY_REQUEST_SECONDS=_SOON)
    yield
    _restart(world)


def _is_a_second_after(began: datetime) -> Callable[[], bool]:
    return lambda: seconds_since(began) > 1


def _ask(world: World, method: str, path: str, body: bytes = b"", **headers: str) -> Any:  # noqa: ANN401 - whatever JSON it is
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(http.client.HTTPConnection(LOOPBACK, world.ports.web, timeout=30)) as connection:
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_health_and_otps_go_on_beside_two_thousand_slow_clients(world: World) -> None:
    somebody = world.person(email="somebody@sandbox.example")
    with slow_clients(world.ports.web, _CLIENTS):
        assert held(world.ports.web) > _CLIENTS / 2, "the server does not hold them"
        for _ in range(10):
            assert _ask(world, "GET", "/healthz")[0] == 200
        codes = [world.send_otp(somebody) for _ in range(5)]
        until(lambda: world.shown(codes) == [1] * 5, what="the person has all codes")


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize(
    "kind", [HEAD, BODY, READER, PIPELINED], ids=["heads", "bodies", "readers", "pipelined"]
)
def test_slow_clients_are_cut_off(world: World, kind: bytes) -> None:
    before = held(world.ports.web)
    with slow_clients(world.ports.web, 200, kinds=[kind]):
        assert held(world.ports.web) > before
        until(lambda: held(world.ports.web) <= before, what="all are cut off", within=_LONG)
    assert _ask(world, "GET", "/healthz")[0] == 200


@pytest.mark.usefixtures("_impatient")
def test_whoever_sends_steadily_is_heard_to_the_end(world: World) -> None:
    """A body of twice the patience, a quarter of a megabyte at a time."""
    service = world.service("order-service")
    somebody = world.person(email="somebody@sandbox.example")
    body = json.dumps({"notifications": [world.mail(somebody)]}).encode()
    body += b" " * (1024 * 1024)
    sending = socket.create_connection((LOOPBACK, world.ports.web), timeout=30)
    key = service.headers["Authorization"]
    with closing(sending):
        sending.sendall(
            f"POST /v1/notifications/batch HTTP/1.1\r\nHost: {LOOPBACK}\r\nAuthorization: {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        )
        parts = [body[at : at + 256 * 1024] for at in range(0, len(body), 256 * 1024)]
        for part in parts:
            began = now()
            sending.sendall(part)
            until(_is_a_second_after(began), what="a second has passed")
        assert b" 202 " in sending.recv(64)


def test_an_address_has_only_so_many_connections_and_others_have_theirs(world: World) -> None:
    _restart(world, NOTIFY_CONNECTIONS_PER_ADDRESS="10")
    before = held(world.ports.web)
    try:
        with slow_clients(world.ports.web, 400, kinds=[HEAD]):
            # Twenty addresses with twenty connections each.
            until(
                lambda: held(world.ports.web) <= before + 200, what="half is closed", within=_LONG
            )
    finally:
        _restart(world)


def test_a_body_is_refused_by_its_length_before_it_is_sent(world: World) -> None:
    """The head alone comes; an answer shows that nobody waits for the body."""
    for path, length, kind, status in (
        ("/v1/receipts/sandbox", 2 << 20, "application/json", b"413"),
        ("/v1/notifications", 2 << 20, "application/json", b"413"),
        ("/v1/notifications", 100, "application/json", b"401"),
        ("/admin/login/", 60 << 20, "multipart/form-data; boundary=x", b"413"),
        ("/v1/notifications", 100, "multipart/form-data; boundary=x", b"415"),
        ("/l/abc", 60 << 20, "multipart/form-data; boundary=x", b"413"),
        ("/problems/invalid", 5, "application/x-www-form-urlencoded", b"413"),
    ):
        asking = socket.create_connection((LOOPBACK, world.ports.web), timeout=30)
        with closing(asking):
            asking.sendall(
                f"POST {path} HTTP/1.1\r\nHost: {LOOPBACK}\r\nCookie: csrftoken={'a' * 32}\r\n"
                f"Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n".encode()
            )
            said = asking.recv(64)
            assert said.split()[1] == status, (path, said)
