"""A failover of a Valkey behind a fixed address is noticed, although the old server lives on.

The old primary becomes a replica: it keeps its connections, answers reads and refuses writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from notifications.core import broker, conf, lanes
from notifications.core.rules.lane import LANES
from notifications.core.store.redis import state
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.servers import Stack
from tests import redis_clients
from tests.failover import Pair


@pytest.fixture
def of_pair(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    """Let this process use the pair as the state Redis and as the broker."""
    with Pair(stack) as pair:
        other = replace(conf.current(), state_url=pair.urls[0], broker_url=pair.urls[1])
        monkeypatch.setattr(conf, "current", lambda: other)
        redis_clients.connect_anew()
        yield pair
        monkeypatch.undo()
        redis_clients.connect_anew()
    assert broker.probe()


def test_the_state_redis_is_back_within_seconds(of_pair: Pair) -> None:
    assert state.probe() == ""
    of_pair.fail_over()
    assert state.probe() == "takes no writes: it is a replica"
    until(lambda: state.probe() == "", what="the new primary takes writes")
    with of_pair.new() as client:
        assert client.exists("probe")


def test_the_broker_takes_messages_again_within_seconds(of_pair: Pair) -> None:
    lane = next(each for each in LANES if each.name == "p3.chat")
    assert broker.probe()
    lanes.publish(lane, [[]])
    assert lanes.depths([lane.name]) == {lane.name: 1}
    of_pair.fail_over()
    with pytest.raises(lanes.BrokerAway):
        lanes.publish(lane, [[]])
    assert broker.fault() == "takes no writes: it is a replica"
    until(broker.takes_messages, what="the probe reaches the new primary")
    before = lanes.depths([lane.name])[lane.name]
    lanes.publish(lane, [[]])
    assert lanes.depths([lane.name])[lane.name] == before + 1
