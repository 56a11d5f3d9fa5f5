"""A host of PostgreSQL that vanishes without a packet holds up a statement for seconds.

A network namespace is the other host; its link goes down. Needs root.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import pytest
from django.db import connection

from notifyproj.devstack.demo.environment import until
from tests.clock import ROOT
from tests.failover import Forwarder

_IP: Final = shutil.which("ip", path="/usr/sbin:/sbin:/usr/bin:/bin") or "ip"
_NETWORK: Final = f"10.213.{os.getpid() % 256}"
_SERVER: Final = f"{_NETWORK}.1"
_CLIENT: Final = f"{_NETWORK}.2"
_SECONDS: Final = 60
"""The kernel alone would give up after 15 minutes."""
_RECEIVED: Final = "SELECT pg_sleep(600)"
_PROGRAM: Final = """
import sys
import django
django.setup()
from django.db import OperationalError, connection
with connection.cursor() as running:
    running.execute("SELECT 1")
    print("connected", flush=True)
    sys.stdin.readline()
    try:
        running.execute(sys.argv[1])
    except OperationalError:
        print("ended", flush=True)
"""


pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True, slots=True)
class _Link:
    """The link between the host of the server, which is this one, and the host of the client."""

    namespace: str
    device: str

    def cut(self) -> None:
        _run(_IP, "link", "set", self.device, "down")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


@contextmanager
def _linked() -> Iterator[_Link]:
    name = f"nv{os.getpid()}"
    link = _Link(name, f"{name}a")
    inside = (_IP, "-n", name)
    try:
        _run(_IP, "netns", "add", name)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs iproute2 and the right to make a network namespace")
    try:
        _run(_IP, "link", "add", link.device, "type", "veth", "peer", f"{name}b", "netns", name)
        _run(_IP, "address", "add", f"{_SERVER}/30", "dev", link.device)
        _run(_IP, "link", "set", link.device, "up")
        _run(*inside, "address", "add", f"{_CLIENT}/30", "dev", f"{name}b")
        _run(*inside, "link", "set", f"{name}b", "up")
        yield link
    finally:
        subprocess.run([_IP, "link", "delete", link.device], check=False, capture_output=True)
        _run(_IP, "netns", "delete", name)


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("SELECT 2", id="sent-after-the-end"),
        pytest.param(_RECEIVED, id="received-before-the-end"),
    ],
)
def test_a_statement_ends_with_an_error(statement: str) -> None:
    parts = urlsplit(os.environ["DATABASE_URL"])
    user, _, _ = parts.netloc.rpartition("@")
    with _linked() as link, Forwarder(parts.port or 5432, address=_SERVER) as server:
        netloc = f"{user}@{_SERVER}:{server.port}"
        program = [sys.executable, "-c", _PROGRAM, statement]
        with subprocess.Popen(
            [_IP, "netns", "exec", link.namespace, *program],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": parts._replace(netloc=netloc).geturl()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as client:
            _play(client, link, is_received=statement == _RECEIVED)


def _play(client: subprocess.Popen[str], link: _Link, *, is_received: bool) -> None:
    assert client.stdout is not None
    assert client.stdin is not None
    assert client.stdout.readline() == "connected\n"
    if not is_received:
        link.cut()
    print(file=client.stdin, flush=True)
    if is_received:
        until(_is_running, what="PostgreSQL has the statement")
        link.cut()
    try:
        told, _ = client.communicate(timeout=_SECONDS)
    finally:
        client.kill()
    assert told == "ended\n"


def _is_running() -> bool:
    with connection.cursor() as running:
        running.execute("SELECT 1 FROM pg_stat_activity WHERE query = %s", [_RECEIVED])
        return running.fetchone() is not None
