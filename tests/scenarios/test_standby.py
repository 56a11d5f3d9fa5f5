"""PostgreSQL with two synchronous standbys: the primary dies, the standbys die, the network splits.

The processes have one DATABASE_URL with the three servers. The test is the watcher, which promotes
a standby; in production that is Patroni or an operator of Kubernetes. After each failover the
change feed has told of each change once, status webhooks have told of each change at least once,
and the roll-ups equal a count of the rows.
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit
from uuid import UUID

import orjson
import pytest

from notifications.core.rules.states import Status
from notifications.core.rules.webhook_events import TOLD
from notifyproj.devstack.demo.environment import now, until
from notifyproj.devstack.servers.postgres import Postgres
from providers.standard_webhooks import Secret, verify
from tests.providers.fakes import HttpFake
from tests.scenarios.producers import THREADS, Load
from tests.scenarios.settings import PRIVATE_WEBHOOKS
from tests.scenarios.world import WORKERS, World
from tests.standbys import Trio, run

_PROCESSES: Final = ("web", *WORKERS, "beat")
_LIMIT: Final = 30.0
"""Seconds for the answer to a request."""
_LONGEST: Final = timedelta(minutes=2)

_Change: TypeAlias = tuple[str, str, str, str, datetime]
"""Ids of the notification and the delivery, status, reason, instant."""


@pytest.fixture
def world(_world: World) -> World:
    """Return the product, in which `trio` starts the workers and beat."""
    _world.repair("web", without=(*WORKERS, "beat"), **PRIVATE_WEBHOOKS)
    return _world


@pytest.fixture
def load(world: World) -> Iterator[_Load]:
    """Producers with an endpoint for status webhooks, which the base backups of `trio` have."""
    with closing(HttpFake(key_header="webhook-id")) as receiver:
        made = world.service("auth-service").ask(
            "POST", "/v1/webhook-endpoints", {"url": receiver.url}
        )
        person = world.person(email="x+slow-50ms@sandbox.example")
        secret = Secret.parse(made.body["secret"])
        yield _Load(world, person, receiver=receiver, secret=secret, began=now())
        world.rows("DELETE FROM webhook_endpoint WHERE url = %s", receiver.url)


@pytest.fixture
def trio(load: _Load) -> Iterator[Trio]:
    """Let all processes use three servers, of which the first is the primary."""
    world = load.world
    single = world.stack.postgres.url
    with Trio(world.stack.postgres) as servers:
        world.database_url = servers.url(single)
        url = servers.url(world.environ["DATABASE_URL"])
        world.restart(*_PROCESSES, DATABASE_URL=url, **PRIVATE_WEBHOOKS)
        try:
            yield servers
        finally:
            world.database_url = single
            world.stop()


@dataclass(slots=True, kw_only=True)
class _Load(Load):
    """Producers with an endpoint that status webhooks call."""

    receiver: HttpFake
    """The server that gets the status webhooks."""
    secret: Secret
    began: datetime

    def told(self) -> Counter[_Change]:
        """Return the changes that status webhooks told, once for each webhook id.

        The primary of an earlier test can have changes of other people that nobody has told.

        Raises:
            InvalidSignature: a webhook is not signed with the endpoint's secret.
        """
        found: dict[str, _Change] = {}
        for request in self.receiver.requests:
            at = datetime.fromtimestamp(int(request.headers["webhook-timestamp"]), UTC)
            verify(request.body, headers=request.headers, secrets=[self.secret], now=at)
            data = orjson.loads(request.body)["data"]
            if data["user_id"] != self.user_id:
                continue
            change = (
                *(data["notification_id"], data["delivery_id"], data["status"], data["reason"]),
                datetime.fromisoformat(data["occurred_at"]),
            )
            assert found.setdefault(request.headers["webhook-id"], change) == change
        return Counter(found.values())


def _check(world: World, load: _Load) -> None:
    """The load is there once, and status webhooks have told of each change at least once."""
    load.check()
    ids = list(load.accepted.values())
    until(
        lambda: _changes(world, ids) <= load.told(),
        what="status webhooks tell of each change",
        within=_LONGEST,
    )
    expected = _changes(world, ids)
    assert load.told() == expected


def _changes(world: World, notifications: list[UUID]) -> Counter[_Change]:
    """Return the stored changes of which a status webhook tells."""
    rows = world.rows(
        "SELECT notification_id, delivery_id, status, reason, at FROM event"
        " WHERE notification_id = ANY(%s)",
        notifications,
    )
    return Counter(
        (
            *(str(row["notification_id"]), str(row["delivery_id"])),
            *(Status(row["status"]).label, row["reason"], row["at"]),
        )
        for row in rows
        if any(row["status"] == t.status and t.reason in {"", row["reason"]} for t in TOLD)
    )


def _check_roll_ups(world: World, began: datetime) -> None:
    """The roll-ups since an instant equal a new count of the stored events."""
    behind = (
        "SELECT 1 FROM event, rollup_position p WHERE event.xid IS NOT NULL AND event.xid >= p.xid"
    )
    until(lambda: not world.rows(behind), what="the roll-ups have each event")
    counted = _roll_ups(world, began)
    assert counted
    # A program that starts beside the old primary, which may be up and cut off.
    environ = {"DATABASE_URL": world.processes["web"].environ["DATABASE_URL"]}
    world.manage("recount_rollups", "--from", f"{began:%Y-%m-%d}", **environ)
    assert _roll_ups(world, began) == counted


def _roll_ups(world: World, began: datetime) -> list[dict[str, Any]]:
    counts = "SELECT * FROM rollup WHERE bucket >= %s ORDER BY cube, series, bucket"
    sketches = "SELECT * FROM rollup_latency WHERE bucket >= %s ORDER BY cube, series, kind, bucket"
    minute = began.replace(second=0, microsecond=0)
    return [*world.rows(counts, minute), *world.rows(sketches, minute)]


def _pids(world: World) -> list[int | None]:
    return [world.processes[name].pid for name in _PROCESSES]


def _tell(text: str) -> None:
    sys.stdout.write(f"\n{text}\n")  # the figures of docs/failover.md; shown with `pytest -s`


def test_a_killed_primary_costs_seconds_and_no_message(
    world: World, load: _Load, trio: Trio
) -> None:
    pids = _pids(world)
    with load.running():
        killed_at = time.monotonic()
        trio.primary.kill()
        trio.promote()
        took = time.monotonic() - killed_at
        load.until_more(100)
    _check(world, load)
    _check_roll_ups(world, load.began)
    assert _pids(world) == pids
    _tell(
        f"killed: no writes for {load.gap(killed_at):.1f} s, promoted after {took:.1f} s;"
        f" {len(load.accepted)} accepted, {len(load.refused)} refused"
    )


def test_a_frozen_primary_is_left_and_commits_nothing_afterwards(
    world: World, load: _Load, trio: Trio
) -> None:
    pids = _pids(world)
    with load.running():
        frozen_at = time.monotonic()
        trio.freeze()
        new = trio.promote()
        world.database_url = new.url
        load.until_more(100)
        gap = load.gap(frozen_at)
        trio.thaw()
        load.until_more(100)
    _check(world, load)
    _check_roll_ups(world, load.began)
    assert _pids(world) == pids
    assert _notifications(trio.primary) <= _notifications(new)
    _tell(f"frozen: no writes for {gap:.1f} s; {len(load.refused)} refused")


def test_a_primary_without_its_standbys_commits_nothing_and_is_left(
    world: World, load: _Load, trio: Trio
) -> None:
    pids = _pids(world)
    with load.running():
        cut_at = time.monotonic()
        trio.cut_off()
        new = trio.promote()
        world.database_url = new.url
        load.until_more(100)
    _check(world, load)
    _check_roll_ups(world, load.began)
    assert _pids(world) == pids
    assert _notifications(trio.primary) <= _notifications(new)
    _tell(f"split: no writes for {load.gap(cut_at):.1f} s; {len(load.refused)} refused")


def _notifications(server: Postgres) -> set[UUID]:
    return {each for (each,) in run(server, "SELECT id FROM notification")}


def test_without_both_standbys_requests_are_refused_until_one_returns(
    world: World, load: _Load, trio: Trio
) -> None:
    pids = _pids(world)
    first, second = trio.standbys
    with load.running():
        first.kill()
        load.until_more(40)
        second.kill()
        until(lambda: len(load.refused) >= THREADS, what="requests are refused")
        told = _readyz(world)
        assert told[0] == http.HTTPStatus.SERVICE_UNAVAILABLE
        assert told[1]["database"].startswith("a commit takes over 2 s")
        first.start()
        load.until_more(40)
    _check(world, load)
    assert _pids(world) == pids
    assert max(each.seconds for each in load.refused) < _LIMIT
    _tell(f"refused within {max(each.seconds for each in load.refused):.1f} s")


def _readyz(world: World) -> tuple[int, dict[str, Any]]:
    link = http.client.HTTPConnection(urlsplit(world.url).netloc, timeout=60)
    try:
        link.request("GET", "/readyz")
        answer = link.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        link.close()
