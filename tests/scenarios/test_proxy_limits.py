"""nginx with the proxy's configuration of both deployments, in front of a stand-in for web."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPSConnection
from pathlib import Path
from typing import Final

import pytest

from notifications.core.api.body_limits import limit_of
from notifyproj.devstack.ports import LOOPBACK
from tests.architecture import compose, manifests
from tests.clock import ROOT
from tests.scenarios.proxy import PROGRAM, Proxy, rendered
from tests.scenarios.stand_ins import CLOSED, LiveStandIn, StandIn, serve

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="nginx is not installed")
_MIB: Final = 1024 * 1024
_TRUST_ANY: Final = ssl._create_unverified_context()  # noqa: S323 - a certificate of the test's own
_BURST: Final = 21
"""Sign-ins of an address that go through at once."""
_MOST_TRIES: Final = 200
_IN_THE_ADMIN: Final = ("/admin/notifications/template/upload/",)


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    web, live = serve(StandIn), serve(LiveStandIn)
    it = Proxy(
        tmp_path,
        web=f"{LOOPBACK}:{web.server_port}",
        live=f"{LOOPBACK}:{live.server_port}",
        flower=LOOPBACK,
        connections=100,
    )
    it.start()
    yield it
    it.stop()
    for server in (web, live):
        server.shutdown()
        server.server_close()


def _ask(
    proxy: Proxy, path: str, *, length: int | None = None, source: str = LOOPBACK
) -> tuple[int, str]:
    """Ask, with a body of so many bytes; returns the status and the answer."""
    link = HTTPSConnection(
        LOOPBACK, proxy.https, timeout=60, context=_TRUST_ANY, source_address=(source, 0)
    )
    with closing(link):
        body = None if length is None else b" " * length
        link.request("GET" if length is None else "POST", path, body)
        answer = link.getresponse()
        return answer.status, answer.read().decode()


def _begin(proxy: Proxy, path: str, *, length: int) -> bytes:
    """Send the head and the first byte of a long body; returns the first line of the answer."""
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n "
    plain = socket.create_connection((LOOPBACK, proxy.https), 20)
    with closing(_TRUST_ANY.wrap_socket(plain)) as link:
        link.sendall(head.encode())
        return link.recv(12)


def _written_paths() -> list[str]:
    """Return the paths of the API that take a body."""
    found = json.loads((ROOT / "docs" / "openapi.json").read_text())["paths"]
    paths = [path for path, each in found.items() if {"post", "put", "patch"} & set(each)]
    return [path.replace("{", "").replace("}", "") for path in paths]


_LARGE: Final = [path for path in (*_written_paths(), *_IN_THE_ADMIN) if limit_of(path).size > _MIB]


@pytest.mark.parametrize("path", CLOSED)
def test_what_operators_ask_is_closed_however_it_is_spelt(proxy: Proxy, path: str) -> None:
    status, answer = _ask(proxy, path)
    assert status == 404
    assert "web" not in answer


def test_each_other_path_goes_to_its_process(proxy: Proxy) -> None:
    assert _ask(proxy, "/healthz") == (200, "web /healthz")
    assert _ask(proxy, "/v1/inbox/u_1") == (200, "web /v1/inbox/u_1")
    assert _ask(proxy, "/v1/inbox/u_1/stream?after=2") == (200, "live /v1/inbox/u_1/stream?after=2")


@pytest.mark.parametrize("path", _LARGE)
def test_a_body_as_large_as_the_service_takes_goes_through_and_no_larger(
    proxy: Proxy, path: str
) -> None:
    limit = limit_of(path)
    if limit.is_streamed:
        assert _begin(proxy, path, length=limit.size) == b"HTTP/1.1 200"
    else:
        assert _ask(proxy, path, length=limit.size) == (200, f"web {path}")
    assert _begin(proxy, path, length=limit.size + 1) == b"HTTP/1.1 413"


@pytest.mark.parametrize("path", ["/v1/notifications", "/v1/receipts/sandbox", "/l/abc", "/"])
def test_any_other_body_is_a_mebibyte_at_most(proxy: Proxy, path: str) -> None:
    assert _ask(proxy, path, length=_MIB) == (200, f"web {path}")
    assert _begin(proxy, path, length=_MIB + 1) == b"HTTP/1.1 413"


def test_the_form_to_sign_in_is_as_small_as_the_service_says(proxy: Proxy) -> None:
    size = limit_of("/admin/login/").size
    assert _ask(proxy, "/admin/login/", length=size)[0] == 200
    assert _begin(proxy, "/admin/login/", length=size + 1) == b"HTTP/1.1 413"


@pytest.mark.parametrize("path", ["/admin/login/", "/%61dmin/login/", "//admin//login/"])
def test_one_address_cannot_try_many_passwords(proxy: Proxy, path: str) -> None:
    statuses: list[int] = []
    while len(statuses) < _MOST_TRIES and 429 not in statuses:
        statuses.append(_ask(proxy, path, length=10)[0])
    assert statuses[-1] == 429
    assert len(statuses) > _BURST
    assert _ask(proxy, path, length=10, source="127.0.0.2")[0] == 200
    assert _ask(proxy, "/v1/notifications", length=10)[0] == 200


def _of_compose() -> dict[str, str]:
    return compose.environ(compose.services()["proxy"], {})


def _of_kubernetes() -> dict[str, str]:
    found = manifests.by_name(manifests.rendered(manifests.FOLDER), "ConfigMap")
    return dict(found["notify-proxy"]["data"])


@pytest.mark.parametrize("values", [_of_compose(), _of_kubernetes()], ids=["compose", "kubernetes"])
def test_nginx_takes_the_configuration_of_each_deployment(
    tmp_path: Path, values: dict[str, str]
) -> None:
    here = Proxy(tmp_path, web=LOOPBACK, flower=LOOPBACK, connections=1).values
    # Folders of the container, and the name of the cluster's DNS, are not of this machine.
    values |= {f"NOTIFY_PROXY_{name}": here[name] for name in ("FILES", "TLS")}
    if not values["NOTIFY_PROXY_RESOLVER"][0].isdigit():
        values["NOTIFY_PROXY_RESOLVER"] = "localhost"
    configuration = tmp_path / "proxy.conf"
    configuration.write_text(
        rendered({name.removeprefix("NOTIFY_PROXY_"): value for name, value in values.items()})
    )
    assert PROGRAM
    done = subprocess.run(
        [PROGRAM, "-t", "-e", "stderr", "-p", str(tmp_path), "-c", str(configuration)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr
