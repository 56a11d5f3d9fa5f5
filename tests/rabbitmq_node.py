"""A RabbitMQ node with the queues and bindings of the service, without a worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from celery import current_app
from kombu import Connection
from kombu.transport.native_delayed_delivery import (
    bind_queue_to_native_delayed_delivery_exchange,
    declare_native_delayed_delivery_exchanges_and_queues,
)

from notifyproj.devstack.servers import Stack
from notifyproj.devstack.servers.rabbitmq import RabbitMQ


@pytest.fixture(scope="module")
def node(stack: Stack) -> Iterator[RabbitMQ]:
    """The broker of the stack, with what workers declare at their start."""
    node = stack.broker
    assert isinstance(node, RabbitMQ)
    with Connection(node.url) as link:
        declare_native_delayed_delivery_exchanges_and_queues(link, "quorum")
        for queue in current_app.amqp.queues.values():
            queue.bind(link.default_channel).declare()
            bind_queue_to_native_delayed_delivery_exchange(link, queue)
    yield node
    node.flush()
