"""A planned failover of the two Valkeys behind fixed addresses needs no restart of a process.

The old primary becomes a replica and keeps its connections, as after a failover by an operator.
"""

from __future__ import annotations

from datetime import timedelta

import redis

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.failover import Pair
from tests.scenarios.world import WORKERS, World

_PROCESSES = ("web", *WORKERS, "beat")
_WITHIN = timedelta(seconds=60)


def _popped(client: redis.Redis) -> int:
    """Return the number of commands with which workers take messages."""
    found = client.info("commandstats")
    return int(found.get("cmdstat_brpop", {}).get("calls", 0))


def test_workers_and_web_processes_reach_the_new_primary(world: World) -> None:
    with Pair(world.stack) as pair:
        state_url, broker_url = pair.urls
        world.restart(*_PROCESSES, REDIS_URL=state_url, CELERY_BROKER_URL=broker_url)
        try:
            somebody = world.person(email="x@sandbox.example")
            before = [world.send_otp(somebody), *world.send_mails(20, user_id=somebody)]
            world.in_status(Status.DELIVERED, before)
            pids = [world.processes[name].pid for name in _PROCESSES]
            pair.fail_over()
            with pair.new() as new:
                until(lambda: _popped(new) > 0, what="workers consume from the new primary")
                after = [world.send_otp(somebody), *world.send_mails(20, user_id=somebody)]
                world.in_status(Status.DELIVERED, after, within=_WITHIN)
                until(lambda: new.exists("probe"), what="the state Redis is written there")
            until(
                lambda: world.service("operator").ask("GET", "/readyz").body["broker"] == "ok",
                what="the web process has the broker",
            )
            assert [world.processes[name].pid for name in _PROCESSES] == pids
            assert world.shown(before + after) == [1] * len(before + after)
        finally:
            world.restart(*_PROCESSES)
