"""The relay against a real broker: how much waits there, what was lost, and who goes alone."""

from __future__ import annotations

import base64
import datetime as dt
from dataclasses import replace
from uuid import UUID

import orjson
import pytest
import redis
from kombu import pools

from celeryconfig import KEY_PREFIX
from notifications.core import broker as broker_state
from notifications.core import clock, conf, lanes
from notifications.core.models import Delivery
from notifications.core.rules import suspects
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.store.cached import provider_overrides
from notifications.core.store.postgres import fair_queue, publish
from notifications.core.store.postgres.fair_queue import Ask
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.redis import unpublished
from notifications.core.sweeps import publish_quota, relay
from notifications.core.sweeps.publish_quota import BrokerShares
from notifications.core.sweeps.rounds import Swept
from providers.contract import Channel
from tests.sweeps.conftest import MakeRow

_LANE = Lane(Mode.LIVE, Priority.P2, Channel.PUSH)
_QUEUE = f"{KEY_PREFIX}{_LANE.name}"
_MINUTE = dt.timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _fresh(broker: redis.Redis) -> None:  # noqa: ARG001 - emptied before and after
    circuit_breakers.forget()
    provider_overrides.forget()


@pytest.fixture(autouse=True)
def _no_experience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish_quota, "shares", BrokerShares())


@pytest.fixture
def small_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "CHUNK", 2)
    monkeypatch.setattr(publish_quota, "SMALLEST_MESSAGE", 2)
    settings = replace(conf.current(), broker_messages=3)
    monkeypatch.setattr(conf, "current", lambda: settings)


def _run() -> Swept:
    return relay.run_once(now=clock.now(), limit=100)


def _messages(broker: redis.Redis) -> list[list[UUID]]:
    """The ids of each message in the queue, the oldest first."""
    found = broker.lrange(_QUEUE, 0, -1)
    assert isinstance(found, list)
    messages = []
    for raw in reversed(found):
        message = orjson.loads(raw)
        body = message["body"]
        if message["properties"]["body_encoding"] == "base64":
            body = base64.b64decode(body)
        [[listed], *_] = orjson.loads(body)
        messages.append([UUID(each) for each in listed])
    return messages


def test_the_depth_of_a_queue_is_how_many_messages_are_ready_in_it() -> None:
    other = Lane(Mode.LIVE, Priority.P3, Channel.SMS)
    lanes.publish(_LANE, [[clock.new_notification_id()] for _ in range(3)])
    assert lanes.depths([_LANE.name, other.name]) == {_LANE.name: 3, other.name: 0}


def test_depths_are_read_again_after_the_broker_was_away() -> None:
    pool = pools.connections[broker_state.connection()]
    with pytest.raises(ConnectionError), pool.acquire(block=True):
        raise ConnectionError  # kombu closes the connection and puts it back into its pool
    assert lanes.depths([_LANE.name]) == {_LANE.name: 0}


@pytest.mark.usefixtures("small_messages")
def test_the_broker_holds_a_few_messages_and_the_rest_waits_as_rows(
    make_row: MakeRow, broker: redis.Redis
) -> None:
    for _ in range(9):
        make_row(due_at=clock.now() - _MINUTE)
    assert [_run().moved for _ in range(3)] == [6, 0, 0]
    assert [len(each) for each in _messages(broker)] == [2, 2, 2]
    broker.rpop(_QUEUE)
    assert [_run().moved for _ in range(2)] == [2, 0]
    broker.rpop(_QUEUE, 2)
    assert [_run().moved for _ in range(2)] == [1, 0]


@pytest.mark.usefixtures("small_messages")
def test_what_only_waits_is_not_taken_for_lost(make_row: MakeRow, broker: redis.Redis) -> None:
    rows = [make_row(due_at=clock.now() - _MINUTE) for _ in range(6)]
    _run()
    Delivery.objects.filter(id__in=rows).update(published_at=clock.now() - _MINUTE)
    assert _run() == Swept()
    broker.delete(_QUEUE)
    assert _run() == Swept(moved=6)
    assert _run() == Swept()
    broker.delete(_QUEUE)
    assert _run() == Swept()  # published a moment ago: a worker may hold the messages


@pytest.mark.parametrize("priority", Priority)
def test_what_is_urgent_counts_as_lost_after_seconds(
    make_row: MakeRow, broker: redis.Redis, priority: Priority
) -> None:
    lane = Lane(Mode.LIVE, priority, Channel.PUSH)
    before = clock.now() - 2 * relay.URGENT_LOST_AFTER
    make_row(priority=priority, due_at=clock.now() + _MINUTE, published_at=before)
    assert _run() == Swept(moved=int(priority.is_urgent))
    assert broker.llen(f"{KEY_PREFIX}{lane.name}") == int(priority.is_urgent)


def test_suspects_leave_together_in_small_messages_then_alone(
    make_row: MakeRow, broker: redis.Redis
) -> None:
    before = clock.now() - _MINUTE
    healthy = [make_row(due_at=before) for _ in range(3)]
    some = [make_row(due_at=before, claims=suspects.SMALL_AFTER) for _ in range(60)]
    worse = [make_row(due_at=before, claims=suspects.ALONE_AFTER) for _ in range(2)]
    assert _run() == Swept(moved=65)
    sizes = [len(each) for each in _messages(broker)]
    assert sizes == [3, suspects.SMALL, suspects.SMALL, 10, 1, 1]
    assert set(_messages(broker)[0]) == set(healthy)
    assert {each for [each] in _messages(broker)[-2:]} == set(worse)
    assert {each for message in _messages(broker)[1:4] for each in message} == set(some)


def test_a_publish_that_fails_leaves_the_rows_due(
    make_row: MakeRow, broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = make_row()
    monkeypatch.setattr(publish, "publish", lambda *_arguments: False)
    assert _run() == Swept()
    due_at = Delivery.objects.get(id=row).due_at
    assert due_at is not None
    assert due_at <= clock.now()
    monkeypatch.undo()
    assert _run() == Swept(moved=1)
    assert _messages(broker) == [[row]]


@pytest.mark.usefixtures("small_messages")
def test_a_producers_backlog_does_not_delay_anothers_row(
    make_row: MakeRow, broker: redis.Redis
) -> None:
    hour_ago = clock.now() - dt.timedelta(hours=1)
    lane = Lane(Mode.LIVE, Priority.P2, Channel.PUSH)
    flood = fair_queue.places([Ask(lane, 1)] * 20, now=hour_ago)
    for place in flood:
        make_row(due_at=place)
    assert _run().moved == 6
    # Accepted now, an hour after the others, of which fourteen still wait.
    [place] = fair_queue.places([Ask(lane, 2)], now=clock.now())
    small = make_row(due_at=place)
    broker.rpop(_QUEUE, 2)
    assert _run().moved == 4
    assert small in _messages(broker)[1]  # the first message after the one that was left


def test_the_rows_of_a_relay_that_died_before_its_publish_are_published_again_in_a_busy_lane(
    make_row: MakeRow, broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes.publish(_LANE, [[clock.new_notification_id()]])  # the lane is never seen empty
    rows = {make_row(due_at=clock.now() - _MINUTE) for _ in range(3)}

    def die(*_arguments: object) -> bool:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(publish, "publish", die)
        with pytest.raises(SystemExit):
            _run()
    assert _run() == Swept()  # the relay may still be at its publish
    monkeypatch.setattr(relay, "UNPUBLISHED_AFTER", dt.timedelta(0))
    assert _run() == Swept(moved=3)
    assert set(_messages(broker)[-1]) == rows
    assert _run() == Swept()


def test_a_relay_that_ends_leaves_no_note(make_row: MakeRow, broker: redis.Redis) -> None:
    del broker
    make_row(due_at=clock.now() - _MINUTE)
    assert _run() == Swept(moved=1)
    assert unpublished.shares_before(clock.now() + _MINUTE) == []
