"""A live process on the servers of the tests, and recipients with tokens."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import os
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.models import Producer, Recipient
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.store.postgres import api_keys
from notifications.features.inbox.rows import writes
from notifications.features.inbox.rows.items import NewItem
from notifications.features.recipient_tokens import minting
from notifyproj.devstack.child_process import preload_variables
from notifyproj.devstack.ports import free_port
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.supervisor.process import Process
from notifyproj.devstack.supervisor.programs import Ports, program
from tests.features.inbox.live.sse import StreamClient

HEARTBEAT_SECONDS: Final = 2
_number = itertools.count()


@dataclass
class LiveProcess:
    """A live process, and the clients that a test has opened."""

    process: Process
    port: int
    clients: list[StreamClient] = field(default_factory=list)

    def connect(self, token: str, **options: object) -> StreamClient:
        """Open a stream."""
        client = StreamClient(self.port, token, **options)  # type: ignore[arg-type]  # by name
        self.clients.append(client)
        return client

    def get(self, path: str) -> bytes:
        """Return the body of a page of the process."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            return bytes(answer.read())

    def ready(self) -> dict[str, Any]:
        """Return what `/readyz` says."""
        found: dict[str, Any] = json.loads(self.get("/readyz"))
        return found

    def metric(self, name: str) -> float:
        """Return the value of a sample; 0 without the sample."""
        lines = [line.rpartition(" ") for line in self.get("/metrics").decode().splitlines()]
        return sum(float(value) for sample, _, value in lines if sample == name)


MakeLive = Callable[..., LiveProcess]


def _start(stack: Stack, folder: Path, **settings: str) -> LiveProcess:
    """Start a live process with settings, and return it when it is ready."""
    port = free_port(str(folder))
    server, _, _ = stack.urls()["DATABASE_URL"].rpartition("/")
    environ = {
        **preload_variables(),
        **{name: value for name, value in os.environ.items() if name.startswith("NOTIFY_")},
        **stack.urls(),
        "DATABASE_URL": f"{server}/{connection.settings_dict['NAME']}",
        "DJANGO_SETTINGS_MODULE": "notifyproj.settings",
        "NOTIFY_LIVE_HEARTBEAT_SECONDS": str(HEARTBEAT_SECONDS),
        "PATH": "/usr/bin:/bin",
        "PYTHONUNBUFFERED": "1",
        **settings,
    }
    process = Process(program("live"), ports=Ports(live=port), environ=environ, var=folder)
    process.start()
    process.wait_ready()
    return LiveProcess(process, port)


def _close(live: LiveProcess) -> None:
    while live.clients:
        live.clients.pop().close()


@pytest.fixture
def make_live(transactional_db: None, stack: Stack, tmp_path: Path) -> Iterator[MakeLive]:  # noqa: ARG001 - asked for by name
    """Start live processes with settings of the test."""
    started: list[LiveProcess] = []

    def make(**settings: str) -> LiveProcess:
        started.append(_start(stack, tmp_path / str(len(started)), **settings))
        return started[-1]

    yield make
    for live in started:
        _close(live)
        live.process.kill()


@pytest.fixture(scope="module")
def _live_of_module(
    django_db_setup: None,  # noqa: ARG001 - asked for by name
    stack: Stack,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[LiveProcess]:
    live = _start(stack, tmp_path_factory.mktemp("live"))
    yield live
    live.process.kill()


@pytest.fixture
def live(transactional_db: None, _live_of_module: LiveProcess) -> Iterator[LiveProcess]:  # noqa: ARG001 - asked for by name
    """The live process of the test's module, with usual limits and short heartbeats."""
    yield _live_of_module
    _close(_live_of_module)


@dataclass(frozen=True)
class Member:
    """A recipient with a token."""

    id: int
    user_id: str
    token: str
    make_token: Callable[..., str]

    def add(self, count: int = 1, **changes: object) -> list[UUID]:
        """Store items in one transaction each; returns their ids."""
        found = []
        for _ in range(count):
            item = new_item(self.id, **changes)
            writes.add([item])
            found.append(item.id)
        return found


@pytest.fixture
def make_person(transactional_db: None) -> Callable[[], Member]:  # noqa: ARG001 - asked for by name
    """Make recipients of one producer."""
    producer = Producer.objects.create(name=f"shop-{uuid4().hex[:8]}")
    row, _ = api_keys.issue(producer, mode=Mode.LIVE, scopes=["recipients:write"])
    key = api_keys.of_prefix(row.prefix)
    assert key is not None

    def make() -> Member:
        user_id = f"person-{uuid4().hex[:12]}"
        recipient = Recipient.objects.create(mode=Mode.LIVE, user_id=user_id)

        def token(lifetime: dt.timedelta = dt.timedelta(hours=1), **options: object) -> str:
            scopes = options.get("scopes", (TokenScope.INBOX_READ,))
            return minting.mint(
                user_id,
                key=key,
                scopes=scopes,  # type: ignore[arg-type]  # by name
                lifetime=lifetime,
                now=clock.now(),
            ).text

        return Member(recipient.pk, user_id, token(), token)

    return make


@pytest.fixture
def ana(make_person: Callable[[], Member]) -> Member:
    return make_person()


def new_item(recipient_id: int, **changes: object) -> NewItem:
    """An item with an id of its own."""
    now = clock.now()
    notification = ids.notification_id(
        at_ms=int(now.timestamp() * 1000), entropy=uuid4().int % (1 << 60)
    )
    values: dict[str, object] = {
        "id": ids.delivery_id(notification, 1),
        "recipient_id": recipient_id,
        "notification_id": notification,
        "type": "ORDER_SHIPPED",
        "category": "orders",
        "title": "Shipped",
        "body": f"Order {next(_number)} is on its way.",
        "created_at": now,
    }
    return NewItem(**values | changes)  # type: ignore[arg-type]  # by name
