"""The disk of PostgreSQL is full: /readyz says so, and nothing accepted is lost or shown twice."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Final
from uuid import UUID

import psycopg

from notifyproj.devstack.demo.environment import Unexpected, until
from tests.scenarios.world import World
from tests.small_disk import fill, make_room, needs_root, under

_WITHIN: Final = timedelta(minutes=1)
_MEBIBYTES: Final = 900
"""The data of a world and the log of a restart take a tenth."""


def _ready(world: World) -> str:
    """Return what /readyz says: its answer of 200, or the error with that of 503."""
    try:
        return str(world.service("operator").ask("GET", "/readyz").body)
    except Unexpected as error:
        return str(error)


def _hands_in(world: World, accepted: list[UUID], user_id: str) -> Callable[[], bool]:
    """Return a function that sends mails, and returns True once they are refused with 503.

    Another refusal ends the test.
    """

    def hand_in() -> bool:
        try:
            accepted.extend(world.send_mails(20, user_id=user_id))
        except Unexpected as error:
            if ": 503 " not in str(error):
                raise
            return True
        return False

    return hand_in


def _is_named(world: World) -> bool:
    return "its disk is full: make room on it" in _ready(world)


def _is_back(world: World) -> bool:
    """Return True if requests have a database; a scenario before may have left `degraded`."""
    said = _ready(world)
    return "'status': 'ready'" in said or "'status': 'degraded'" in said


@needs_root
def test_a_full_disk_of_postgres_is_named_and_loses_nothing(world: World) -> None:
    somebody = world.person(email="x@sandbox.example")
    postgres, accepted = world.stack.postgres, list[UUID]()
    refused = _hands_in(world, accepted, somebody)
    with under(postgres, mebibytes=_MEBIBYTES):
        until(lambda: _is_back(world), what="it is back")
        refused()
        fill(postgres.data)
        until(refused, what="a request finds no room", within=_WITHIN)
        until(lambda: _is_named(world), what="/readyz names the disk", within=_WITHIN)
        _end_log(postgres.url)
        until(refused, what="requests find no room for the log")
        postgres.kill()
        make_room(postgres.data)
        postgres.start()
        until(lambda: not refused(), what="it accepts again", within=_WITHIN)
        world.settled(accepted)
        assert world.shown(accepted) == [1] * len(accepted)
    until(lambda: _is_back(world), what="it is back on its former disk")
    assert "database_disk_full" in world.processes["web"].text()


def _end_log(url: str) -> None:
    """Use up the room that PostgreSQL has reserved for its log: the server restarts itself."""
    with suppress(psycopg.Error), psycopg.connect(url, autocommit=True) as link:
        while link.execute("SELECT pg_switch_wal()").fetchone():
            link.execute("SELECT pg_logical_emit_message(false, 'test', repeat('x', 1000000))")
