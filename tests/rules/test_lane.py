"""Routing keys of RabbitMQ lead to one queue each, and back to the queue's name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import permutations
from typing import Final

import pytest

from notifications.core.rules.lane import LANES, queue_of, routing_key
from notifyproj.devstack.supervisor.process import ROOT

_WAIT: Final = "0." * 26 + "1.1."
"""What kombu puts before the key of a message that waits for three seconds."""


def _keys_on_rabbitmq() -> dict[str, str]:
    code = "import celeryconfig, json; queues = celeryconfig.task_queues\n"
    code += "print(json.dumps({each.name: each.routing_key for each in queues}))"
    environ = {**os.environ, "CELERY_BROKER_URL": "amqp://u:p@rabbit//"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environ, capture_output=True, check=True
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_no_routing_key_ends_with_the_words_of_another() -> None:
    keys = _keys_on_rabbitmq()
    assert len(set(keys.values())) == len(LANES) + 3
    words = [key.split(".") for key in keys.values()]
    assert not [(a, b) for a, b in permutations(words, 2) if a[-len(b) :] == b]


@pytest.mark.parametrize("name", ["ops", *(each.name for each in LANES)])
def test_the_queue_of_a_message_is_known_on_both_brokers_and_after_a_wait(name: str) -> None:
    assert queue_of(name) == name  # Redis, and a RabbitMQ of an earlier release
    assert queue_of(routing_key(name)) == name
    assert queue_of(_WAIT + routing_key(name)) == name
