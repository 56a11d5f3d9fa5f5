"""A RabbitMQ that takes no messages counts as away, within the time limits of a publisher."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest
from kombu import Connection

from notifications.core import broker, lanes, rabbitmq
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.tasks import deliver
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.servers.rabbitmq import RabbitMQ
from providers.contract import Channel
from tests.brokers import rabbitmq_only

pytestmark = rabbitmq_only

_LANE = Lane(Mode.LIVE, Priority.P0, Channel.EMAIL)
_ALARM = "takes no messages: an alarm of its memory or disk blocks publishers"


@pytest.fixture
def node(stack: Stack) -> Iterator[RabbitMQ]:
    node = stack.broker
    assert isinstance(node, RabbitMQ)
    until(broker.probe, what="the broker takes messages")
    lanes.publish(_LANE, [[uuid4()]])
    node.purge()
    yield node
    until(broker.probe, what="the broker is back")
    node.purge()


@contextmanager
def _frozen(node: RabbitMQ) -> Iterator[None]:
    node.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        node.signal(signal.SIGCONT)


def _connections(node: RabbitMQ) -> set[str]:
    return set(node.ctl("-q", "list_connections", "--no-table-headers", "pid").split())


def _publish() -> bool:
    """Publish as a request does that does not know yet that the broker is away."""
    broker._state.record("")
    try:
        lanes.publish(_LANE, [[uuid4()]])
    except lanes.BrokerAway:
        return False
    return True


def test_an_alarm_of_memory_counts_as_away(node: RabbitMQ) -> None:
    with node.full():
        until(lambda: not broker.probe(), what="the alarm is noticed")
        assert broker.fault() == _ALARM
        until(lambda: not _publish(), what="a publisher notices it by itself")
        assert broker.fault() == _ALARM
    until(broker.takes_messages, what="the end of the alarm is noticed")
    assert _publish()


def test_a_node_that_stands_still_counts_as_away(node: RabbitMQ) -> None:
    with _frozen(node):
        assert not _publish()
        assert not broker.probe()
        assert broker.fault() == "does not answer"
    until(broker.takes_messages, what="the node goes on")
    assert _publish()


def test_a_retry_during_an_alarm_is_left_to_the_sweep(node: RabbitMQ) -> None:
    task = deliver.TASKS[_LANE.channel]
    task.push_request(id=str(uuid4()), args=([],), kwargs={}, called_directly=False)
    try:
        with node.full():

            def is_left() -> bool:
                broker._state.record("")
                ids = [uuid4().hex]
                return deliver._publish_again(task, _LANE.name, ids, countdown=2) is None

            until(is_left, what="the retry is not published")
            assert broker.fault() == _ALARM
    finally:
        task.pop_request()


def test_probes_share_a_connection_also_during_an_alarm(node: RabbitMQ) -> None:
    before = _connections(node)
    assert all(broker.probe() for _ in range(20))
    assert _connections(node) == before
    with node.full():
        until(lambda: not broker.probe(), what="the alarm is noticed")
        assert not any(broker.probe() for _ in range(5))
        assert _connections(node) == before
    until(broker.probe, what="the broker is back")
    assert _connections(node) == before


def test_a_deleted_virtual_host_a_kill_and_a_restart_are_survived(node: RabbitMQ) -> None:
    for damage in (node.flush, node.restart):
        damage()
        until(broker.probe, what="the broker is back")
        until(_publish, what="a message is published")
        assert lanes.depths([_LANE.name])[_LANE.name]
        node.purge()
    node.kill()
    assert not broker.probe()
    assert not _publish()
    node.start()


def test_a_late_confirm_does_not_count_for_the_next_message(node: RabbitMQ) -> None:
    options = {"confirm_publish": True, "answer_within": 0.2}
    link = Connection(node.url, transport_options=options)
    with link, link.channel() as channel:
        message = channel.prepare_message(b"")
        channel.basic_publish(message, routing_key="nowhere")
        with _frozen(node), pytest.raises(rabbitmq.Silent):
            channel.basic_publish(message, routing_key="nowhere")
        link.connection.answer_within = 30
        channel.basic_publish(message, routing_key="nowhere")
        assert channel._confirmed == channel._published == 3
