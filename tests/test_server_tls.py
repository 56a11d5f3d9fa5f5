"""Every client of Valkey, Redis and RabbitMQ verifies its server over TLS, unless a URL says no."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from kombu import Connection
from kombu.exceptions import OperationalError

from notifications.core import broker, conf, lanes, server_faults, server_tls
from notifications.core.rules.lane import LANES
from notifications.core.store.redis import state
from notifyproj.devstack.servers import Stack
from tests import redis_clients
from tests.providers.email.certificates import Authority
from tests.tls_proxy import TlsProxy

_UNTRUSTED: Final = (
    "has a certificate that the process does not trust: check ssl_ca_certs in the URL"
)
_OTHER_HOST: Final = "has a certificate for other host names: check the host in the URL"
_SERVERS: Final = ("rediss://state/0", "amqps://u:p@broker//")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def valkey(stack: Stack, authority: Authority) -> Iterator[Callable[..., str]]:
    """Return a function that gives the URL of a Valkey behind TLS, with a certificate of a host."""
    with ExitStack() as proxies:

        def url(*hosts: str, **parameters: str) -> str:
            context = authority.server_context(*hosts)
            proxy = proxies.enter_context(TlsProxy(stack.broker.port, context))
            query = "&".join(f"{name}={value}" for name, value in parameters.items())
            return f"rediss://:{stack.broker.password}@localhost:{proxy.port}/0?{query}"

        yield url


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Let this process use a URL as the state Redis and as the broker."""

    def use(url: str) -> None:
        url = server_tls.verify(url)
        other = replace(conf.current(), state_url=url, broker_url=url)
        monkeypatch.setattr(conf, "current", lambda: other)
        redis_clients.connect_anew()

    yield use
    monkeypatch.undo()
    redis_clients.connect_anew()
    assert broker.probe()


def _fault_of_kombu(url: str) -> str:
    """Return the fault of kombu alone, which publishers and consumers use."""
    with (
        pytest.raises(OperationalError) as refused,
        Connection(url, transport_options={"max_retries": 0}) as link,
    ):
        link.ensure_connection(max_retries=1, interval_start=0)
    return server_faults.words(refused.value)


def _celery(url: str, *words: str) -> subprocess.CompletedProcess[str]:
    environ = os.environ | {"CELERY_BROKER_URL": url}
    return subprocess.run(
        [sys.executable, *words],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_server_of_a_trusted_authority_is_used_by_state_and_broker(
    valkey: Callable[..., str], use: Callable[[str], None], authority: Authority
) -> None:
    use(valkey("localhost", ssl_ca_certs=str(authority.client_file())))
    lane = next(each for each in LANES if each.name == "p3.chat")
    assert state.probe() == ""
    assert broker.probe()
    lanes.publish(lane, [[]])
    with broker.connection().clone() as link, link.SimpleQueue(lane.name) as queue:
        message = queue.get(timeout=5)
        message.ack()
    assert message.headers["task"] == "deliver_chat"


def test_a_server_of_an_unknown_authority_is_refused_by_state_and_broker(
    valkey: Callable[..., str], use: Callable[[str], None]
) -> None:
    use(url := valkey("localhost"))
    assert state.probe() == _UNTRUSTED
    assert not broker.probe()
    assert broker.fault() == _UNTRUSTED
    assert _fault_of_kombu(server_tls.verify(url)) == _UNTRUSTED


def test_a_server_with_the_certificate_of_another_host_is_refused_by_state_and_broker(
    valkey: Callable[..., str], use: Callable[[str], None], authority: Authority
) -> None:
    use(url := valkey("elsewhere.example", ssl_ca_certs=str(authority.client_file())))
    assert state.probe() == _OTHER_HOST
    assert not broker.probe()
    assert broker.fault() == _OTHER_HOST
    assert _fault_of_kombu(server_tls.verify(url)) == _OTHER_HOST


@pytest.mark.parametrize("spelling", ["none", "CERT_NONE"])
def test_a_url_may_switch_the_verification_off_in_both_spellings(
    valkey: Callable[..., str], use: Callable[[str], None], spelling: str
) -> None:
    use(valkey("elsewhere.example", ssl_cert_reqs=spelling))
    assert state.probe() == ""
    assert broker.probe()


def test_celery_s_programs_verify_the_broker(
    valkey: Callable[..., str], authority: Authority
) -> None:
    ping = ("-m", "celery", "-A", "notifyproj", "inspect", "--timeout", "0.5", "ping")
    refused = _celery(valkey("localhost"), *ping)
    assert "CERTIFICATE_VERIFY_FAILED" in refused.stdout + refused.stderr
    trusting = _celery(valkey("localhost", ssl_ca_certs=str(authority.client_file())), *ping)
    assert "No nodes replied" in trusting.stdout + trusting.stderr


def test_flower_verifies_the_broker_when_it_asks_for_lengths(
    valkey: Callable[..., str], authority: Authority
) -> None:
    ask = (
        "import asyncio, json; from flower.utils.broker import Broker; from notifyproj.celery"
        " import app; uri = app.connection().as_uri(include_password=True); print(json.dumps("
        "asyncio.run(Broker(uri, broker_use_ssl=app.conf.broker_use_ssl).queues(['none']))))"
    )
    refused = _celery(valkey("localhost"), "-c", ask)
    assert "CERTIFICATE_VERIFY_FAILED" in refused.stderr
    trusting = _celery(valkey("localhost", ssl_ca_certs=str(authority.client_file())), "-c", ask)
    assert json.loads(trusting.stdout) == [{"name": "none", "messages": 0}]


def test_a_connection_of_amqps_verifies_authority_and_host(
    stack: Stack, authority: Authority
) -> None:
    ca = f"?ssl_ca_certs={authority.client_file()}"
    with (
        TlsProxy(stack.broker.port, authority.server_context("localhost")) as right,
        TlsProxy(stack.broker.port, authority.server_context("elsewhere.example")) as other,
    ):
        assert _fault_of_amqps(right.port) == _UNTRUSTED
        assert _fault_of_amqps(other.port, ca) == _OTHER_HOST
        assert (right.handshakes, other.handshakes) == (0, 0)
        # A Valkey speaks no AMQP, so the connection fails after the handshake.
        assert _fault_of_amqps(right.port, ca) == server_faults.AWAY
        assert _fault_of_amqps(other.port, f"{ca}&ssl_check_hostname=false") == server_faults.AWAY
        assert _fault_of_amqps(other.port, "?ssl_cert_reqs=none") == server_faults.AWAY
        assert right.handshakes > 0
        assert other.handshakes > right.handshakes


def _fault_of_amqps(port: int, query: str = "") -> str:
    url = server_tls.verify(f"amqps://u:p@localhost:{port}//{query}")
    with pytest.raises(OSError) as refused, Connection(url, connect_timeout=1) as link:  # noqa: PT011 - the words are compared
        link.connect()
    return server_faults.words(refused.value)


@pytest.mark.parametrize("url", _SERVERS)
@pytest.mark.parametrize(
    ("query", "then"),
    [
        ("", "ssl_cert_reqs=required&ssl_check_hostname=true"),
        ("ssl_cert_reqs=CERT_REQUIRED", "ssl_cert_reqs=required&ssl_check_hostname=true"),
        ("ssl_cert_reqs=CERT_OPTIONAL", "ssl_cert_reqs=required&ssl_check_hostname=true"),
        ("ssl_cert_reqs=optional", "ssl_cert_reqs=required&ssl_check_hostname=true"),
        ("ssl_cert_reqs=CERT_NONE", "ssl_cert_reqs=none&ssl_check_hostname=true"),
        ("ssl_check_hostname=False", "ssl_check_hostname=false&ssl_cert_reqs=required"),
    ],
)
def test_both_spellings_of_a_parameter_become_the_one_that_every_client_reads(
    url: str, query: str, then: str
) -> None:
    written_out = server_tls.verify(f"{url}?{query}")
    assert written_out == f"{url}?{then}"
    assert server_tls.verify(written_out) == written_out


@pytest.mark.parametrize("url", ["redis://state/0", "amqp://u:p@broker//", ""])
def test_a_url_without_tls_stays_as_it_is(url: str) -> None:
    assert server_tls.verify(url) == url


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("rediss://x?ssl_cert_reqs=maybe", "an unknown ssl_cert_reqs; write required or none"),
        ("rediss://x?ssl_check_hostname=no", "ssl_check_hostname; write true or false"),
        ("rediss://x?ssl_ca_cert=/a", "has the unknown TLS parameter ssl_ca_cert; the parameters"),
        ("amqps://x?cacertfile=/a", "has the unknown TLS parameter cacertfile; the parameters are"),
        ("amqps://x?verify=verify_peer", "has the unknown TLS parameter verify; the parameters"),
        ("rediss://x?ssl_cert_reqs=required&ssl_cert_reqs=none", "has ssl_cert_reqs twice"),
        ("rediss://x?ssl_ca_certs=", "has an empty ssl_ca_certs"),
        ("rediss://x?ssl_ca_certs=/none", "has an ssl_ca_certs that is no readable PEM file"),
        ("rediss://x?ssl_certfile=/none", "has an ssl_certfile or ssl_keyfile that is no readable"),
        ("rediss://x?ssl_keyfile=/none", "has ssl_keyfile without ssl_certfile"),
        ("redis://x?ssl_cert_reqs=required", "ssl_cert_reqs without TLS; begin with rediss://"),
        ("amqp://x?ssl_ca_certs=/a", "has ssl_ca_certs without TLS; begin with amqps://"),
        ("amqps://x//;amqps://y//", "names several servers; name one"),
    ],
)
def test_a_parameter_that_a_client_would_misread_stops_the_start(url: str, said: str) -> None:
    with pytest.raises(ValueError, match=r"has|names") as refused:
        server_tls.verify(url)
    assert said in str(refused.value)


def test_a_client_s_certificate_is_read_at_the_start(authority: Authority) -> None:
    file = authority.server_file("client")
    assert f"ssl_certfile={file}" in server_tls.verify(f"rediss://x?ssl_certfile={file}")


def test_a_worker_with_an_unknown_parameter_ends_with_a_line_that_names_it() -> None:
    ended = _celery("rediss://broker?ssl_verify=yes", "-m", "celery", "-A", "notifyproj", "report")
    assert ended.returncode != 0
    assert "CELERY_BROKER_URL has the unknown TLS parameter ssl_verify" in ended.stderr
