"""The real web process on a database of its own, and a relay in front of it that loses answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from notifications.core.management.commands.load_demo import KEYS_FILE
from notifications.core.management.demo_data import TUTORIAL
from notifyproj.devstack.child_process import preload_variables
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.supervisor.process import ROOT, Process
from notifyproj.devstack.supervisor.programs import Ports, program
from tests.clients.python.relay import Relay

_DATABASE: Final = "python_client"
_OTHER_SECRET: Final = "whsec_dGVzdHMtc2lnbi10aGVpci13ZWJob29rcw=="


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The running service, and what is in it."""

    url: str
    sandbox_url: str
    database: str
    environ: dict[str, str] = field(repr=False)
    """Environment of its processes, and of `manage.py`."""
    tutorial_key: str = field(repr=False)
    """The key that the demo prints, as `load_demo` has issued it."""
    key: str = field(repr=False)
    own_keys: list[str] = field(repr=False)
    """Three that a test may rotate."""
    narrow_key: str = field(repr=False)
    slow_key: str = field(repr=False)
    token_secret: str = field(repr=False)
    letters: list[int]
    messages: dict[str, list[str]]
    """User id -> ids of two messages in the inbox."""
    alerts: list[int]

    def count(self, reference: str) -> int:
        """Notifications whose metadata has this reference."""
        statement = "SELECT count(*) FROM notification WHERE metadata ->> 'reference' = %s"
        with psycopg.connect(self.database) as link:
            row = link.execute(statement, [reference]).fetchone()
        return int(row[0]) if row else 0


@pytest.fixture(scope="session")
def service(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Started once; the tests keep apart by their names."""
    var = tmp_path_factory.mktemp("python_client")
    server = stack.urls()["DATABASE_URL"]
    with psycopg.connect(server, autocommit=True) as link:
        link.execute(f"DROP DATABASE IF EXISTS {_DATABASE} WITH (FORCE)".encode())
        link.execute(f"CREATE DATABASE {_DATABASE}".encode())
    ports = Ports(web=free_port(f"{var}/web"), flower=1, sandbox=free_port(f"{var}/sandbox"))
    environ = _environ(stack, ports=ports, var=var)
    for command in (["manage.py", "migrate"], ["manage.py", "load_demo"]):
        _run(command, environ)
    found: dict[str, Any] = json.loads(_run(["-m", "tests.clients.python.furnish"], environ))
    demo_keys = json.loads((var / KEYS_FILE).read_text())
    processes = [
        Process(program(name), ports=ports, environ=environ, var=var) for name in ("sandbox", "web")
    ]
    with _running(processes):
        yield Service(
            url=environ["NOTIFY_PUBLIC_URL"],
            sandbox_url=f"http://{LOOPBACK}:{ports.sandbox}",
            database=environ["DATABASE_URL"],
            environ=environ,
            tutorial_key=demo_keys[TUTORIAL],
            **found,
        )


def _environ(stack: Stack, *, ports: Ports, var: Path) -> dict[str, str]:
    """Return the environment of the processes."""
    urls = stack.urls()
    return {
        **preload_variables(),
        **{name: value for name, value in os.environ.items() if name.startswith("NOTIFY_")},
        **urls,
        "DATABASE_URL": f"{urls['DATABASE_URL'].rpartition('/')[0]}/{_DATABASE}",
        "REDIS_URL": f"{urls['REDIS_URL'].rpartition('/')[0]}/7",
        "DJANGO_SETTINGS_MODULE": "notifyproj.settings",
        "NOTIFY_PUBLIC_URL": f"http://{LOOPBACK}:{ports.web}",
        "NOTIFY_WEBHOOK_ALLOW_PRIVATE": "yes",  # as the demo does
        "NOTIFY_WEBHOOK_SECRETS": _OTHER_SECRET,
        "DEMO_ADMIN_PASSWORD": "opens-nothing",
        "DEMO_VAR": str(var),
        "PYTHONUNBUFFERED": "1",
        "PATH": "/usr/bin:/bin",
    }


@contextmanager
def _running(processes: list[Process]) -> Iterator[None]:
    """Start processes; at the end kill them."""
    try:
        for each in processes:
            each.start()
        for each in processes:
            each.wait_ready()
        yield
    finally:
        for each in processes:
            each.kill()


def _run(command: list[str], environ: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environ, check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.fixture
def relay(service: Service) -> Iterator[Relay]:
    """In front of the service."""
    with Relay(service.url) as it:
        yield it
