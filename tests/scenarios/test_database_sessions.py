"""A worker keeps its database sessions over many tasks.

Celery closes the session of a thread after each task, unless a setting says otherwise. To open a
session takes longer than a task that delivers one message.
"""

from __future__ import annotations

import psycopg

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.scenarios.world import World

_MANY = 100


def test_tasks_share_the_sessions_of_their_threads(world: World) -> None:
    somebody = world.person(email="x@sandbox.example")
    world.in_status(Status.DELIVERED, [world.send_otp(somebody) for _ in range(20)])
    # One session of the test's own: `world.rows` opens one for each statement.
    with psycopg.connect(world.stack.postgres.url, autocommit=True) as link:
        opened = _opened(link)
        codes = [world.send_otp(somebody) for _ in range(_MANY)]
        query = "SELECT count(*) FROM delivery WHERE notification_of(id) = ANY(%s) AND status = %s"
        until(
            lambda: link.execute(query, [codes, Status.DELIVERED]).fetchone() == (_MANY,),
            what="every code is delivered",
        )
        assert _opened(link) - opened < _MANY // 2


def _opened(link: psycopg.Connection) -> int:
    """Return the number of sessions that the database has seen."""
    query = "SELECT sessions FROM pg_stat_database WHERE datname = current_database()"
    [count] = link.execute(query).fetchone() or [0]
    return int(count)
