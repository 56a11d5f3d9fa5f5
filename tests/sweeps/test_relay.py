"""The relay against a real broker: how much waits there, what was lost, and who goes alone."""

from __future__ import annotations

import base64
import datetime as dt
from dataclasses import replace
from typing import Any
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
from notifications.core.rules.states import Status
from notifications.core.store.cached import provider_overrides
from notifications.core.store.postgres import id_ranges, publish
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.redis import unpublished
from notifications.core.sweeps import relay
from notifications.core.sweeps.rounds import Swept
from providers.contract import Channel
from tests import past_rows
from tests.sweeps.conftest import MakeRow

_LANE = Lane(Mode.LIVE, Priority.P2, Channel.PUSH)
_QUEUE = f"{KEY_PREFIX}{_LANE.name}"
_URGENT = Lane(Mode.LIVE, Priority.P1, Channel.PUSH)
_MINUTE = dt.timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _fresh(broker: redis.Redis) -> None:  # noqa: ARG001 - emptied before and after
    circuit_breakers.forget()
    provider_overrides.forget()


@pytest.fixture
def small_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "CHUNK", 2)
    monkeypatch.setattr(relay, "SMALLEST_MESSAGE", 2)
    settings = replace(conf.current(), broker_messages=3)
    monkeypatch.setattr(conf, "current", lambda: settings)


def _run() -> Swept:
    return relay.run_once(now=clock.now(), limit=100)


def _arguments(broker: redis.Redis, lane: Lane) -> list[Any]:
    """The arguments of each message in the queue, the oldest first."""
    found = broker.lrange(f"{KEY_PREFIX}{lane.name}", 0, -1)
    assert isinstance(found, list)
    arguments = []
    for raw in reversed(found):
        message = orjson.loads(raw)
        body = message["body"]
        if message["properties"]["body_encoding"] == "base64":
            body = base64.b64decode(body)
        arguments.append(orjson.loads(body)[0])
    return arguments


def _rows(broker: redis.Redis) -> list[int]:
    """The most rows of each message of P2."""
    return [due[0] for _, due in _arguments(broker, _LANE)]


def _messages(broker: redis.Redis) -> list[list[UUID]]:
    """The ids of each message of P1."""
    return [[UUID(each) for each in ids] for [ids] in _arguments(broker, _URGENT)]


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
    rows = [make_row(due_at=clock.now() - _MINUTE) for _ in range(9)]
    assert [_run().moved for _ in range(3)] == [6, 0, 0]
    assert _rows(broker) == [2, 2, 2]
    broker.rpop(_QUEUE)  # a worker claims two rows
    Delivery.objects.filter(id__in=rows[:2]).update(status=Status.SENDING)
    assert [_run().moved for _ in range(2)] == [2, 0]
    broker.rpop(_QUEUE, 2)
    Delivery.objects.filter(id__in=rows[:6]).update(status=Status.SENDING)
    assert [_run().moved for _ in range(2)] == [1, 0]
    assert _rows(broker) == [2, 2]


def test_a_message_of_few_due_rows_takes_those_that_come_due_meanwhile(
    make_row: MakeRow, broker: redis.Redis
) -> None:
    make_row(due_at=clock.now() - _MINUTE)
    assert _run() == Swept(moved=1)
    assert _rows(broker) == [relay.SMALLEST_MESSAGE]


def test_many_due_rows_are_divided_among_messages(
    make_row: MakeRow, broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "SMALLEST_MESSAGE", 1)
    for _ in range(33):
        make_row(due_at=clock.now() - _MINUTE)
    assert _run() == Swept(moved=33)
    assert _rows(broker) == [5] * 7  # an eighth each


def test_lost_messages_are_replaced_by_the_next_run(make_row: MakeRow, broker: redis.Redis) -> None:
    for _ in range(6):
        make_row(due_at=clock.now() - _MINUTE)
    assert [_run().moved for _ in range(2)] == [6, 0]
    broker.delete(_QUEUE)
    assert [_run().moved for _ in range(2)] == [6, 0]


@pytest.mark.usefixtures("small_messages", "broker")
def test_ranges_of_ids_take_turns_in_the_messages_of_a_lane(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(9):
        make_row(due_at=clock.now() - _MINUTE)
    past_rows.fill((clock.now() - dt.timedelta(days=3)).date(), notifications=1, people=1)
    due_at = clock.now() - _MINUTE
    Delivery.objects.filter(channel=Channel.EMAIL).update(
        status=Status.QUEUED, due_at=due_at, channel=Channel.PUSH
    )
    spans = [span for span, _ in id_ranges.by_day(Delivery.objects.values_list("id", flat=True))]
    monkeypatch.setattr(id_ranges, "current", lambda: list(reversed(spans)))
    recent, old = reversed(spans)
    assert [
        relay.lane_messages(_LANE, [recent, old], 100, depth=depth).messages for depth in (0, 4, 6)
    ] == [
        [(recent, 2), (old, 2), *[(recent, 2)] * 4],
        [(recent, 2), (old, 2)],
        [],
    ]
    assert relay.lane_messages(_LANE, [old, recent], 3).messages[:2] == [(old, 1), (recent, 1)]


@pytest.mark.usefixtures("small_messages")
def test_urgent_rows_that_only_wait_are_not_taken_for_lost(
    make_row: MakeRow, broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "URGENT_CHUNK", 2)
    queue = f"{KEY_PREFIX}{_URGENT.name}"
    before = clock.now() - _MINUTE
    rows = [make_row(priority=Priority.P1, due_at=before) for _ in range(6)]
    assert _run() == Swept(moved=6)
    Delivery.objects.filter(id__in=rows).update(published_at=before)
    assert _run() == Swept()
    broker.delete(queue)
    assert _run() == Swept(moved=6)
    broker.delete(queue)
    assert _run() == Swept()  # published a moment ago: a worker may hold the messages


@pytest.mark.parametrize("priority", [Priority.P0, Priority.P1])
def test_what_is_urgent_counts_as_lost_after_seconds(
    make_row: MakeRow, broker: redis.Redis, priority: Priority
) -> None:
    lane = Lane(Mode.LIVE, priority, Channel.PUSH)
    before = clock.now() - 2 * relay.LOST_AFTER
    make_row(priority=priority, due_at=clock.now() + _MINUTE, published_at=before)
    assert _run() == Swept(moved=1)
    assert broker.llen(f"{KEY_PREFIX}{lane.name}") == 1


def test_urgent_suspects_leave_together_in_small_messages_then_alone(
    make_row: MakeRow, broker: redis.Redis
) -> None:
    columns: dict[str, Any] = {"priority": Priority.P1, "due_at": clock.now() - _MINUTE}
    healthy = [make_row(**columns) for _ in range(3)]
    some = [make_row(**columns, claims=suspects.SMALL_AFTER) for _ in range(60)]
    worse = [make_row(**columns, claims=suspects.ALONE_AFTER) for _ in range(2)]
    assert _run() == Swept(moved=65)
    sizes = [len(each) for each in _messages(broker)]
    assert sizes == [3, suspects.SMALL, suspects.SMALL, 10, 1, 1]
    assert set(_messages(broker)[0]) == set(healthy)
    assert {each for [each] in _messages(broker)[-2:]} == set(worse)
    assert {each for message in _messages(broker)[1:4] for each in message} == set(some)


def test_a_publish_that_fails_leaves_the_rows_due(
    make_row: MakeRow, broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = make_row(priority=Priority.P1)
    make_row()
    monkeypatch.setattr(publish, "publish", lambda *_arguments: False)
    monkeypatch.setattr(publish, "publish_lane_messages", lambda *_arguments: False)
    assert _run() == Swept()
    due_at = Delivery.objects.get(id=row).due_at
    assert due_at is not None
    assert due_at <= clock.now()
    monkeypatch.undo()
    assert _run() == Swept(moved=2)
    assert _messages(broker) == [[row]]


def test_the_rows_of_a_relay_that_died_before_its_publish_are_published_again_in_a_busy_lane(
    make_row: MakeRow, broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes.publish(_URGENT, [[clock.new_notification_id()]])  # the lane is never seen empty
    due_at = clock.now() - _MINUTE
    rows = {make_row(priority=Priority.P1, due_at=due_at) for _ in range(3)}

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
    make_row(priority=Priority.P1, due_at=clock.now() - _MINUTE)
    assert _run() == Swept(moved=1)
    assert unpublished.shares_before(clock.now() + _MINUTE) == []
