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
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Event
from types import MappingProxyType
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urlsplit
from uuid import UUID

import orjson
import pytest

from notifications.core.rules.states import Status
from notifications.core.rules.webhook_events import TOLD
from notifyproj.devstack.demo.environment import now, pause, until
from notifyproj.devstack.servers.postgres import Postgres
from providers.standard_webhooks import Secret, verify
from tests import roles
from tests.providers.fakes import HttpFake
from tests.scenarios.settings import PRIVATE_WEBHOOKS
from tests.scenarios.world import WORKERS, World
from tests.standbys import Trio, run

_PROCESSES: Final = ("web", *WORKERS, "beat")
_THREADS: Final = 4
_PAUSE: Final = 0.1
"""Seconds between two requests of a thread: 40 requests a second in all."""
_LIMIT: Final = 30.0
"""Seconds for the answer to a request."""
_LONGEST: Final = timedelta(minutes=2)
_CALLED: Final = frozenset({"sent", "delivered"})
"""Statuses behind a call that the provider took."""

_Change: TypeAlias = tuple[str, str, str, str, datetime]
"""Ids of the notification and the delivery, status, reason, instant."""


@pytest.fixture
def world(webhook_world: World) -> World:
    return webhook_world


@pytest.fixture
def load(world: World) -> Iterator[_Load]:
    """Producers with an endpoint for status webhooks, which the base backups of `trio` have."""
    with closing(HttpFake(key_header="webhook-id")) as receiver:
        made = world.service("auth-service").ask(
            "POST", "/v1/webhook-endpoints", {"url": receiver.url}
        )
        person = world.person(email="x+slow-50ms@sandbox.example")
        yield _Load(world, person, receiver, Secret.parse(made.body["secret"]), began=now())
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


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: http.client.HTTPMessage
    body: dict[str, Any]
    seconds: float


@dataclass(slots=True)
class _Load:
    """Producers: an OTP each 100 ms; a refused request is repeated with the same key."""

    world: World
    user_id: str
    receiver: HttpFake
    """The server that gets the status webhooks."""
    secret: Secret
    began: datetime
    over: Event = field(default_factory=Event)
    accepted: dict[str, UUID] = field(default_factory=dict)
    """Ids by idempotency key."""
    accepted_at: list[float] = field(default_factory=list)
    refused: list[_Answer] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    """The change feed, as a poller with a cursor reads it."""

    def post(self, key: str) -> _Answer:
        """Send an OTP with an idempotency key."""
        body = json.dumps(self.world.otp(self.user_id))
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        return self._ask("POST", "/v1/notifications", body=body, headers=headers)

    def _ask(
        self,
        method: str,
        path: str,
        *,
        body: str | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> _Answer:
        own = self.world.service("auth-service").headers
        began = time.monotonic()
        link = http.client.HTTPConnection(urlsplit(self.world.url).netloc, timeout=60)
        try:
            link.request(method, path, body, {**own, **headers})
            answer = link.getresponse()
            found = json.loads(answer.read())
            return _Answer(answer.status, answer.headers, found, time.monotonic() - began)
        finally:
            link.close()

    def follow(self) -> None:
        """Read the change feed since the beginning, until it told of each accepted request."""
        query = f"since={quote(self.began.isoformat())}"
        latest = time.monotonic() + 2 * _LONGEST.total_seconds()
        while not self.is_told():
            assert time.monotonic() < latest, "the change feed lacks an accepted request"
            answer = self._ask("GET", f"/v1/notifications/changes?{query}")
            if answer.status != http.HTTPStatus.OK:
                self.refused.append(answer)
            else:
                self.changes += answer.body["results"]
                query = f"cursor={quote(answer.body['next'])}"
            pause(_PAUSE)

    def is_told(self) -> bool:
        """Return True if the load is over, and the feed has told that each was sent or delivered.

        A receipt may come before the settle, and a receipt that met the gap may be missing.
        """
        found = {each["notification_id"] for each in self.changes if each["status"] in _CALLED}
        return self.over.is_set() and {str(each) for each in self.accepted.values()} <= found

    def _send(self, name: str) -> None:
        number = 0
        while not self.over.is_set():
            number += 1
            key = f"{self.user_id}-{name}-{number}"
            while (answer := self.post(key)).status != http.HTTPStatus.ACCEPTED:
                self.refused.append(answer)
                pause(_PAUSE)
            self.accepted[key] = UUID(answer.body["notification_id"])
            self.accepted_at.append(time.monotonic())
            self.over.wait(_PAUSE)

    @contextmanager
    def running(self) -> Iterator[None]:
        with ThreadPoolExecutor(_THREADS + 1) as pool:
            sending: list[Future[None]] = [
                pool.submit(self._send, str(number)) for number in range(_THREADS)
            ]
            sending.append(pool.submit(self.follow))
            try:
                self.until_more(20)
                yield
            finally:
                self.over.set()
            for each in sending:
                each.result()

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

    def until_more(self, count: int) -> None:
        """Wait until `count` more requests are accepted."""
        wanted = len(self.accepted) + count
        until(lambda: len(self.accepted) >= wanted, what=f"{count} are accepted", within=_LONGEST)

    def gap(self, since: float) -> float:
        """Return the longest time between two accepted requests after an instant, in seconds."""
        times = [each for each in self.accepted_at if each >= since]
        return max(b - a for a, b in zip([since, *times], times, strict=False))


def _check(world: World, load: _Load) -> None:
    """Nothing accepted is lost or there twice, and each refusal says when to come back.

    The change feed has told of each change once, and status webhooks of each change at least once.
    """
    ids = list(load.accepted.values())
    assert len(set(ids)) == len(ids)
    world.settled(ids, within=_LONGEST)
    assert Counter(world.shown(ids)) == {1: len(ids)}
    changes = Counter(json.dumps(each, sort_keys=True) for each in load.changes)
    assert set(changes.values()) == {1}
    for answer in load.refused:
        assert answer.status == http.HTTPStatus.SERVICE_UNAVAILABLE or _is_in_progress(answer), (
            answer
        )
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert int(answer.headers["Retry-After"]) > 0
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


def _check_roll_ups(world: World, began: datetime, primary: Postgres) -> None:
    """The roll-ups since an instant equal a new count of the stored events."""
    behind = (
        "SELECT 1 FROM event, rollup_position p WHERE event.xid IS NOT NULL AND event.xid >= p.xid"
    )
    until(lambda: not world.rows(behind), what="the roll-ups have each event")
    counted = _roll_ups(world, began)
    assert counted
    environ = roles.settings(primary.url, "app")
    world.manage("recount_rollups", "--from", f"{began:%Y-%m-%d}", **environ)
    assert _roll_ups(world, began) == counted


def _roll_ups(world: World, began: datetime) -> list[dict[str, Any]]:
    counts = "SELECT * FROM rollup WHERE bucket >= %s ORDER BY cube, series, bucket"
    sketches = "SELECT * FROM rollup_latency WHERE bucket >= %s ORDER BY cube, series, kind, bucket"
    minute = began.replace(second=0, microsecond=0)
    return [*world.rows(counts, minute), *world.rows(sketches, minute)]


def _is_in_progress(answer: _Answer) -> bool:
    """Return True for a repeat while the first request still waits on the server before."""
    kind: str = answer.body["type"]
    return answer.status == http.HTTPStatus.CONFLICT and kind.endswith(":in-progress")


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
        new = trio.promote()
        took = time.monotonic() - killed_at
        load.until_more(100)
    _check(world, load)
    _check_roll_ups(world, load.began, new)
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
    _check_roll_ups(world, load.began, new)
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
    _check_roll_ups(world, load.began, new)
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
        until(lambda: len(load.refused) >= _THREADS, what="requests are refused")
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
