"""All connections to the broker are busy: the rows come due in Postgres, and the task ends well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import pytest
from kombu import pools

from notifications.core import broker, lanes
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.tasks import deliver
from providers.contract import Channel

_LANE = Lane(Mode.LIVE, Priority.P1, Channel.PUSH)


@pytest.fixture
def _all_connections_busy() -> Iterator[None]:
    assert broker.probe()
    producers = pools.producers[broker.connection()]
    with ExitStack() as lent:
        for _ in range(producers.limit):
            lent.enter_context(producers.acquire())
        yield
    assert broker.probe()


@pytest.mark.usefixtures("_all_connections_busy")
def test_a_publish_without_a_free_connection_leaves_the_rows_to_postgres() -> None:
    with pytest.raises(lanes.BrokerAway):
        lanes.publish(_LANE, [[uuid4()]])
    assert broker.fault() == "answers slowly: all connections of the process wait for it"


@pytest.mark.usefixtures("_all_connections_busy")
def test_a_retry_without_a_free_connection_fails_no_task(log_output: Callable[[], str]) -> None:
    task: Any = deliver.TASKS[Channel.PUSH]
    assert deliver._publish_again(task, _LANE.name, [uuid4().hex], countdown=2.0) is None
    assert '"reason": "LimitExceeded"' in log_output()
