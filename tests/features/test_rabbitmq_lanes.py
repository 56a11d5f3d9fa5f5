"""On RabbitMQ each message arrives in one queue: its lane's, at once and after a wait."""

from __future__ import annotations

from uuid import uuid4

import pytest
from celery import current_app
from celery.exceptions import Retry
from kombu import Connection

from notifications.core import broker, lanes
from notifications.core.rules.lane import LANES, Lane, Mode, Priority, routing_key
from notifications.core.tasks import deliver
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.servers.rabbitmq import RabbitMQ
from providers.contract import Channel
from tests.brokers import rabbitmq_only

pytestmark = rabbitmq_only

_PUSH = Channel.PUSH
_LIVE = Lane(Mode.LIVE, Priority.P0, _PUSH)
_TEST = Lane(Mode.TEST, Priority.P0, _PUSH)
_QUEUES = ("ops", *(each.name for each in LANES))
_DELAYED = "0." * 27 + "1." + routing_key(_LIVE.name)


@pytest.fixture(autouse=True)
def _empty(node: RabbitMQ) -> None:
    node.purge()


def _waiting() -> dict[str, int]:
    return {name: count for name, count in lanes.depths(_QUEUES).items() if count}


def test_a_message_of_a_test_lane_reaches_no_live_lane() -> None:
    lanes.publish(_TEST, [[uuid4()]])
    until(_waiting, what="the message has arrived")
    assert _waiting() == {"test.p0.push": 1}


def test_a_message_of_each_lane_arrives_once() -> None:
    for lane in LANES:
        lanes.publish(lane, [[uuid4()]])
    expected = {lane.name: 1 for lane in LANES}
    until(lambda: len(_waiting()) == len(LANES), what="the messages have arrived")
    assert _waiting() == expected


def test_messages_that_wait_arrive_once_each(node: RabbitMQ) -> None:
    for lane in (_LIVE, _TEST):
        current_app.send_task("deliver_push", args=[[]], queue=lane.name, countdown=1)
    until(lambda: len(_waiting()) == 2, what="the messages have arrived")
    assert _waiting() == {"p0.push": 1, "test.p0.push": 1}
    assert not node.waiting("celery_delayed_0")


def test_the_bindings_of_an_earlier_release_copy_no_message(node: RabbitMQ) -> None:
    with Connection(node.url) as link, link.channel() as channel:
        for key in ("p0.push", "#.p0.push"):
            channel.queue_bind("p0.push", "notify", key)
            channel.exchange_bind("notify", "celery_delayed_delivery", key)
    lanes.publish(_TEST, [[uuid4()]])
    current_app.send_task("deliver_push", args=[[]], queue=_TEST.name, countdown=1)
    until(lambda: _waiting().get("test.p0.push") == 2, what="the messages have arrived")
    assert _waiting() == {"test.p0.push": 2}


@pytest.mark.parametrize("seconds", [0.25, 1.0, 1.2])
def test_a_task_that_has_waited_waits_again_in_its_own_lane(seconds: float) -> None:
    task = deliver.TASKS[_PUSH]
    task.push_request(
        id=str(uuid4()),
        args=([],),
        kwargs={},
        called_directly=False,
        delivery_info={"exchange": "celery_delayed_delivery", "routing_key": _DELAYED},
    )
    try:
        published = deliver._publish_again(task, _LIVE.name, [uuid4().hex], countdown=seconds)
    finally:
        task.pop_request()
    assert isinstance(published, Retry)
    assert broker.takes_messages()
    until(_waiting, what="the message has arrived")
    assert _waiting() == {"p0.push": 1}
