"""nginx as compose configures it, in front of the real web process: its limits hold alone."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Final

import pytest

from notifyproj.devstack.ports import LOOPBACK
from tests.scenarios.proxy import PROGRAM, Proxy
from tests.scenarios.world import World

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="nginx is not installed")
_CONNECTIONS: Final = 40
"""Of one address. Compose allows more, which would take longer to open."""
_MIB: Final = 1024 * 1024
_TRUST_ANY: Final = ssl._create_unverified_context()  # noqa: S323 - a certificate of the test's own
_SLOW_POST: Final = (
    b"POST /v1/receipts/sandbox HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
)


@pytest.fixture
def proxy(world: World, tmp_path: Path) -> Iterator[Proxy]:
    it = Proxy(
        tmp_path,
        web=f"{LOOPBACK}:{world.ports.web}",
        flower=f"{LOOPBACK}:{world.ports.flower}",
        connections=_CONNECTIONS,
    )
    it.start()
    yield it
    it.stop()


def _ask(
    proxy: Proxy, method: str, path: str, body: bytes | None = None, **headers: str
) -> HTTPResponse:
    with closing(HTTPSConnection(LOOPBACK, proxy.https, timeout=20, context=_TRUST_ANY)) as link:
        link.request(method, path, body, headers)
        answer = link.getresponse()
        answer.read()
        return answer


def _slow(proxy: Proxy, start: bytes, *, source: str) -> ssl.SSLSocket:
    plain = socket.create_connection((LOOPBACK, proxy.https), 20, source_address=(source, 0))
    link = _TRUST_ANY.wrap_socket(plain)
    link.sendall(start)
    return link


def test_requests_go_through_by_tls_only(proxy: Proxy) -> None:
    answer = _ask(proxy, "GET", "/healthz")
    assert answer.status == 200
    assert answer.headers["Strict-Transport-Security"]
    with closing(HTTPConnection(LOOPBACK, proxy.http, timeout=20)) as link:
        link.request("GET", "/v1/docs?a=b", headers={"Host": "notify.example.com"})
        moved = link.getresponse()
    assert (moved.status, moved.headers["Location"]) == (
        308,
        "https://notify.example.com/v1/docs?a=b",
    )


@pytest.mark.parametrize("path", ["/metrics", "/readyz", "/startupz"])
def test_what_operators_ask_is_not_published(proxy: Proxy, path: str) -> None:
    assert _ask(proxy, "GET", path).status == 404


@pytest.mark.parametrize(
    ("path", "mebibytes"),
    [
        ("/v1/notifications", 1),
        ("/v1/receipts/sandbox", 1),
        ("/l/abc", 1),
        ("/v1/suppressions", 8),
        ("/v1/notifications/batch", 16),
        ("/admin/login/", 1),
    ],
)
def test_a_body_is_limited_by_its_path_before_it_is_read(
    proxy: Proxy, path: str, mebibytes: int
) -> None:
    length = str(mebibytes * _MIB + 1)
    link = _slow(
        proxy,
        f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode(),
        source=LOOPBACK,
    )
    with closing(link):
        assert link.recv(100).startswith(b"HTTP/1.1 413")


def test_a_batch_below_its_limit_reaches_the_service(proxy: Proxy, world: World) -> None:
    key = world.service("order-service").headers["Authorization"]
    body = b'{"notifications": []' + b" " * (15 * _MIB) + b"}"
    answer = _ask(
        proxy,
        "POST",
        "/v1/notifications/batch",
        body,
        **{"Authorization": key, "Content-Type": "application/json"},
    )
    assert answer.status == 422  # the service has read it: a batch has at least one


def test_the_logs_hold_no_address_and_no_token(proxy: Proxy, tmp_path: Path) -> None:
    private = (
        "/l/a-token",
        "/v1/search?address=a-token",
        "/v1/recipients/a-token",
        "/v1/topics/news/subscribers/a-token",
    )
    links = [f"/{each}/a-token" for each in ("unsubscribe", "preferences", "c", "o")]
    for path in (*private, *links, "//preferences/a-token", "/v1/receipts/sandbox?a-token"):
        _ask(proxy, "GET", path)
    with closing(_slow(proxy, b"GET /l/a-token HTTP/1.1\r\nbad head\r\n\r\n", source=LOOPBACK)):
        pass
    proxy.stop()
    logs = (tmp_path / "access.log").read_text() + proxy.log.read_text()
    assert logs.count('"status":') >= len(private) + 2
    assert "a-token" not in logs


def test_slow_bodies_hold_no_thread_of_the_web_process(proxy: Proxy) -> None:
    # The web process has eight threads.
    with ExitStack() as links:
        for number in range(200):
            source = f"127.0.0.{2 + number // _CONNECTIONS}"
            links.enter_context(closing(_slow(proxy, _SLOW_POST, source=source)))
        assert _ask(proxy, "GET", "/healthz").status == 200
        assert _ask(proxy, "GET", "/v1/notifications").status == 401


def test_one_address_cannot_take_all_connections(proxy: Proxy) -> None:
    with ExitStack() as links:
        held = [
            links.enter_context(closing(_slow(proxy, _SLOW_POST, source="127.0.0.9")))
            for _ in range(_CONNECTIONS)
        ]
        one_more = links.enter_context(closing(_slow(proxy, _SLOW_POST, source="127.0.0.9")))
        assert one_more.recv(100).startswith(b"HTTP/1.1 429")
        assert _ask(proxy, "GET", "/healthz").status == 200
        assert len(held) == _CONNECTIONS


def test_a_slow_head_and_a_slow_body_come_to_an_end(proxy: Proxy) -> None:
    starts = (b"GET /healthz HTTP/1.1\r\nHost: ", _SLOW_POST)
    with ExitStack() as links:
        for link in [_slow(proxy, start, source=LOOPBACK) for start in starts]:
            links.enter_context(closing(link))
            link.settimeout(60)
            assert _last_word(link) in {b"", b"HTTP/1.1 408"}


def _last_word(link: ssl.SSLSocket) -> bytes:
    """What the proxy says at the end; nothing where it resets the connection."""
    try:
        return link.recv(100)[:12]
    except ConnectionResetError:
        return b""
