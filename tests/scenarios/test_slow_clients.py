"""Thousands of slow clients take no thread that works: everybody else is answered meanwhile."""

from __future__ import annotations

import http.client
import socket
from contextlib import closing
from typing import Any, Final

from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.ports import LOOPBACK
from tests.scenarios.world import World
from tests.slow_clients import held, slow_clients

_CLIENTS: Final = 2_000


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
