"""Three RabbitMQ nodes behind HAProxy: a node dies or freezes, the network splits, all restart.

Producers send one-time passwords throughout, and the provider shows repeats. Each request is
answered 202, each message arrives once, and no process ends. The node that fails is the one to
which the worker of P0 is connected.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import pytest

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.supervisor.process import Process
from tests.brokers import rabbitmq_only
from tests.chaos.reconcile import p99
from tests.failover import Forwarder
from tests.rabbitmq_cluster import HAPROXY, Cluster, ClusterNode
from tests.scenarios.producers import Load
from tests.scenarios.world import WORKERS, World

pytestmark = [
    rabbitmq_only,
    pytest.mark.skipif(HAPROXY is None, reason="HAProxy is not installed"),
    pytest.mark.usefixtures("provider_shows_repeats"),
]

_PROCESSES: Final = ("web", *WORKERS, "beat")
_LONGEST: Final = timedelta(minutes=2)
_MAILS: Final = 50
_MORE: Final = 60
"""Requests after an event, of the 40 a second that producers send."""


@pytest.fixture(scope="module")
def cluster(_world: World) -> Iterator[Cluster]:
    """The broker of all processes in this module."""
    with Cluster(beside=_world.stack.state, folder=_world.var) as nodes:
        yield nodes
        _world.stop()


@pytest.fixture
def world(_world: World, cluster: Cluster) -> World:
    """The product with the cluster as its broker, and with all nodes up."""
    settings = {"CELERY_BROKER_URL": cluster.url, "NOTIFY_SANDBOX_DEDUP": "no"}
    _world.repair(*_PROCESSES, **settings)
    until(lambda: _told_broker(_world) == "ok", what="the broker takes messages", within=_LONGEST)
    return _world


@contextmanager
def _load(world: World, event: str) -> Iterator[Load]:
    """Send OTPs and P2 mails during a block; then each has arrived once, by the same processes."""
    person = world.person(email="x@sandbox.example")
    load, pids = Load(world, person), _pids(world)
    with load.running():
        mails = world.send_mails(_MAILS, user_id=person)
        yield load
        mails += world.send_mails(_MAILS, user_id=person)
        load.until_more(_MORE)
    load.check()
    world.in_status(Status.DELIVERED, mails, within=_LONGEST)
    assert world.shown(mails) == [1] * len(mails)
    assert load.refused == []
    assert _pids(world) == pids
    until(lambda: _told_broker(world) == "ok", what="the broker takes messages", within=_LONGEST)
    waits = _waits(world, list(load.accepted.values()))
    sys.stdout.write(  # the figures of docs/failover-rabbitmq.md; shown with `pytest -s`
        f"\n{event}: {len(waits)} P0 accepted, from the acceptance to the provider p99"
        f" {p99(waits):.2f} s, longest {max(waits):.2f} s\n"
    )


def _waits(world: World, notifications: list[UUID]) -> list[float]:
    """Return the seconds from the acceptance of each notification to the provider's call."""
    found = world.rows("SELECT id, created_at FROM notification WHERE id = ANY(%s)", notifications)
    accepted = {row["id"]: row["created_at"].astimezone(UTC) for row in found}
    return [
        (datetime.fromisoformat(message["first_at"]) - accepted[each]).total_seconds()
        for each, message in world.got(notifications).items()
    ]


def _pids(world: World) -> list[int | None]:
    return [world.processes[name].pid for name in _PROCESSES]


def _told_broker(world: World) -> object:
    """Return the broker's state in `/readyz`, whose status must be 200."""
    return world.service("operator").ask("GET", "/readyz").body["broker"]


def _worker(cluster: Cluster) -> ClusterNode:
    """Return the node to which the worker of P0 is connected."""
    return until(
        lambda: cluster.node_of_consumer("p0.email"), what="the worker consumes", within=_LONGEST
    )


def _goes_on(world: World) -> None:
    """Send an OTP, which arrives before the fault ends."""
    sent = [world.send_otp(world.person(email="x@sandbox.example"))]
    until(lambda: world.got(sent), what="the provider has it")


def _connected(process: Process) -> int:
    """Return how often a worker has connected to the broker."""
    return process.log.read_text().count("Connected to amqp")


def test_two_of_three_nodes_are_killed_one_after_the_other(world: World, cluster: Cluster) -> None:
    first = _worker(cluster)
    with _load(world, "a node killed") as load:
        first.kill()
        _goes_on(world)
        load.until_more(_MORE)
    second = _worker(cluster)
    with _load(world, "no majority") as load:
        second.kill()
        until(lambda: _told_broker(world) == "away", what="the broker is away")
        _goes_on(world)
        load.until_more(_MORE)
        for each in (first, second):
            each.launch()
        for each in (first, second):
            each.wait_ready()


def test_a_node_that_is_cut_off_pauses_and_joins_again(world: World, cluster: Cluster) -> None:
    node = _worker(cluster)
    with _load(world, "split") as load:
        node.cut_off()
        until(lambda: not node.answers(), what="the node has paused", within=_LONGEST)
        _goes_on(world)
        load.until_more(_MORE)
        node.rejoin()
        until(node.answers, what="the node has joined", within=_LONGEST)


def test_a_frozen_node_is_left_with_and_without_haproxy(world: World, cluster: Cluster) -> None:
    node = _worker(cluster)
    with Forwarder(node.port) as forwarder:
        # As a proxy that leaves a connection with its server.
        url = cluster.url.replace(str(cluster.proxy.port), str(forwarder.port))
        workers = [
            world.processes["p0"],
            *world.start_extra("p0-2", environ={"CELERY_BROKER_URL": url}),
        ]
        forwarder.target = next(each.port for each in cluster.nodes if each is not node)
        before = [_connected(each) for each in workers]
        with _load(world, "frozen") as load:
            with _frozen(node):
                until(lambda: _all_reconnected(workers, before), what="both leave the node")
                _goes_on(world)
                load.until_more(_MORE)
            until(node.answers, what="the node is back", within=_LONGEST)
        assert None not in [each.pid for each in workers]


def _all_reconnected(workers: Sequence[Process], before: Sequence[int]) -> bool:
    return all(_connected(each) > count for each, count in zip(workers, before, strict=True))


@contextmanager
def _frozen(node: ClusterNode) -> Iterator[None]:
    node.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        node.signal(signal.SIGCONT)


def test_a_rolling_restart_of_all_nodes(world: World, cluster: Cluster) -> None:
    with _load(world, "rolling restart"):
        for each in cluster.nodes:
            each.drain()
            each.restart()
    assert set(_members(cluster).values()) == {len(cluster.nodes)}


def _members(cluster: Cluster) -> dict[str, int]:
    """Return the number of members that run, by lane."""
    asked = ("-q", "list_queues", "--no-table-headers", "name", "online")
    lines = [line.split("\t") for line in cluster.nodes[0].ctl(*asked).splitlines()]
    return {name: online.count("notify-") for name, online in lines if name.startswith("p0.")}
