"""Certificates that end are named by the check, by the log and by alerts."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from django.core import checks
from django.db import connection

from notifications.core import clock, conf
from notifications.core.models import Alert
from notifications.features.certificates import ends, sweep
from notifications.features.certificates.checks import check
from tests.providers.email.certificates import DAY, Authority
from tests.providers.fakes import free_port

pytestmark = pytest.mark.django_db

Use = Callable[..., None]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Use:
    """Return a function that replaces settings of the process."""
    usual = replace(conf.current(), public_url="http://127.0.0.1")
    monkeypatch.setattr(conf, "current", lambda: usual)

    def replace_settings(**changes: str) -> None:
        other = replace(usual, **changes)  # type: ignore[arg-type]  # all of these are texts
        monkeypatch.setattr(conf, "current", lambda: other)

    return replace_settings


@pytest.fixture
def server() -> Iterator[Callable[[ssl.SSLContext], str]]:
    """Return a function that starts a TLS server and returns its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threads = []

        def serve(context: ssl.SSLContext) -> None:
            while True:
                try:
                    link, _ = listener.accept()
                except OSError:
                    return
                with link, suppress(OSError), context.wrap_socket(link, server_side=True) as tls:
                    tls.recv(1)

        def start(context: ssl.SSLContext) -> str:
            threads.append(Thread(target=serve, args=(context,)))
            threads[-1].start()
            return f"https://localhost:{listener.getsockname()[1]}"

        yield start
        listener.shutdown(socket.SHUT_RDWR)
        for each in threads:
            each.join()


def _open() -> dict[str, str]:
    return {row.kind: row.detail for row in Alert.objects.filter(resolved_at=None)}


def test_a_client_certificate_is_named_before_and_after_its_end_until_its_renewal(
    authority: Authority, use: Use
) -> None:
    soon, late = authority.server_file("a"), authority.server_file("a", starts_in=30 * DAY)
    use(state_url=f"rediss://state/0?ssl_certfile={soon}")
    now = clock.now()
    sweep.run_once(now=now, limit=1)
    [(kind, detail)] = _open().items()
    assert kind == "certificate_ends"
    assert detail.startswith(f"REDIS_URL ssl_certfile: the certificate of {soon} ends in 47 hours")
    assert detail.endswith("UTC: replace the file and restart the processes")
    sweep.run_once(now=now + 2 * DAY, limit=1)
    [(kind, detail)] = _open().items()
    assert kind == "certificate_ended"
    assert f"the certificate of {soon} ended at " in detail
    use(state_url=f"rediss://state/0?ssl_certfile={late}")
    sweep.run_once(now=now, limit=1)
    assert _open() == {}


def test_the_last_end_of_a_file_of_authorities_counts(authority: Authority, use: Use) -> None:
    file = authority.client_file()
    use(broker_url=f"amqps://broker//?ssl_ca_certs={file}")
    [message] = check()
    assert message.level == checks.WARNING
    assert str(message.msg).startswith(
        f"CELERY_BROKER_URL ssl_ca_certs: the certificate of {file} ends in 47 hours"
    )
    file.write_bytes(
        file.read_bytes() + authority.server_file("a", starts_in=30 * DAY).read_bytes()
    )
    assert check() == []


def test_an_ended_certificate_of_postgres_is_an_error_of_the_check(
    authority: Authority, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    use()
    file = authority.server_file("a", starts_in=-4 * DAY)
    options = {**connection.settings_dict["OPTIONS"], "sslcert": str(file), "sslrootcert": "system"}
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", options)
    [message] = check()
    assert message.level == checks.ERROR
    assert str(message.msg).startswith("DATABASE_URL sslcert: ")


def test_the_certificate_of_the_public_address_is_read_from_its_server(
    authority: Authority, use: Use, server: Callable[[ssl.SSLContext], str]
) -> None:
    use(public_url=server(authority.server_context("localhost", starts_in=-4 * DAY)))
    sweep.run_once(now=clock.now(), limit=1)
    [(kind, detail)] = _open().items()
    assert kind == "certificate_ended"
    assert detail.startswith("NOTIFY_PUBLIC_URL: the certificate of localhost ended at ")


def test_a_certificate_that_cannot_be_read_keeps_its_alert(
    authority: Authority, use: Use, server: Callable[[ssl.SSLContext], str]
) -> None:
    use(public_url=server(authority.server_context("localhost")))
    sweep.run_once(now=clock.now(), limit=1)
    use(public_url=f"https://localhost:{free_port()}")
    sweep.run_once(now=clock.now(), limit=1)
    assert list(_open()) == ["certificate_ends"]
    use(public_url="http://localhost")
    sweep.run_once(now=clock.now(), limit=1)
    assert _open() == {}


def test_a_certificate_that_ends_unread_is_named_as_ended(authority: Authority, use: Use) -> None:
    soon = authority.server_file("a")
    use(state_url=f"rediss://state/0?ssl_certfile={soon}")
    now = clock.now()
    sweep.run_once(now=now, limit=1)
    soon.unlink()
    sweep.run_once(now=now + DAY, limit=1)
    assert list(_open()) == ["certificate_ends"]
    sweep.run_once(now=now + 2 * DAY, limit=1)
    [(kind, detail)] = _open().items()
    assert kind == "certificate_ended"
    assert f"the certificate of {soon} ended at " in detail


def test_an_alert_ends_when_the_setting_names_another_host(
    authority: Authority, use: Use, server: Callable[[ssl.SSLContext], str]
) -> None:
    use(public_url=server(authority.server_context("localhost")))
    sweep.run_once(now=clock.now(), limit=1)
    assert list(_open()) == ["certificate_ends"]
    use(public_url=f"https://127.0.0.1:{free_port()}")
    sweep.run_once(now=clock.now(), limit=1)
    assert _open() == {}


def test_an_alert_ends_when_the_setting_names_another_file_that_cannot_be_read(
    authority: Authority, use: Use, tmp_path: Path
) -> None:
    use(state_url=f"rediss://state/0?ssl_certfile={authority.server_file('a')}")
    sweep.run_once(now=clock.now(), limit=1)
    assert list(_open()) == ["certificate_ends"]
    use(state_url=f"rediss://state/0?ssl_certfile={tmp_path / 'absent'}")
    sweep.run_once(now=clock.now(), limit=1)
    assert _open() == {}


def test_an_alert_about_a_long_path_stays_while_the_file_cannot_be_read(
    authority: Authority, use: Use, tmp_path: Path
) -> None:
    file = tmp_path / ("a" * 200)
    file.write_bytes(authority.server_file("a").read_bytes())
    use(state_url=f"rediss://state/0?ssl_certfile={file}")
    sweep.run_once(now=clock.now(), limit=1)
    file.unlink()
    for _ in range(2):
        sweep.run_once(now=clock.now(), limit=1)
    assert list(_open()) == ["certificate_ends"]
    assert Alert.objects.count() == 1


def test_a_silent_server_of_the_public_address_holds_no_sweep(
    use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ends, "_CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        use(public_url=f"https://localhost:{listener.getsockname()[1]}")
        [found] = ends.of_public_url()
    assert found.ends_at is None
    assert not found.ends_within(dt.timedelta(days=1), now=clock.now())
