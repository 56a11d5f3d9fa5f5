"""The broker is disposable: whatever it forgets is published again, whatever it repeats is ignored.

Each test lets messages pile up in front of a worker that stands still, damages the broker under
them, and lets the worker go on. Everything arrives once.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from notifications.rules.states import Status
from notifyproj.stories.scene import until
from tests.scenarios.world import World

_MANY = 300


@contextmanager
def _standing_still(world: World) -> Iterator[None]:
    worker = world.processes["channels"]
    worker.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        worker.signal(signal.SIGCONT)


def _published(world: World, mails: list[UUID]) -> None:
    until(
        lambda: all(row["published_at"] for row in world.deliveries(mails)),
        what="all are in the broker",
    )


def _arrive_once(world: World, mails: list[UUID]) -> None:
    world.in_status(Status.DELIVERED, mails)
    assert world.shown(mails) == [1] * len(mails)


def test_flushall_under_load(world: World) -> None:
    somebody = world.person(email="x@sandbox.example")
    with _standing_still(world):
        mails = world.send_mails(_MANY, user_id=somebody)
        mails += world.send_mails(20, user_id=somebody, priority="P1")
        _published(world, mails)
        world.stack.broker.flush()
    # More come while the first are missing: the workers were not told of the flood.
    mails += world.send_mails(_MANY, user_id=somebody)
    _arrive_once(world, mails)


def test_one_list_deleted(world: World) -> None:
    somebody = world.person(email="x@sandbox.example")
    with _standing_still(world):
        mails = world.send_mails(20, user_id=somebody, priority="P1")
        _published(world, mails)
        with world.broker() as broker:
            assert broker.delete("notify:p1.email") == 1
    _arrive_once(world, mails)


def test_killed_and_back_with_an_old_snapshot(world: World, tmp_path: Path) -> None:
    somebody = world.person(email="x@sandbox.example")
    with _standing_still(world):
        old = world.send_mails(20, user_id=somebody, priority="P1")
        _published(world, old)
        world.stack.broker.save(tmp_path / "old.rdb")
    _arrive_once(world, old)
    with _standing_still(world):
        new = world.send_mails(20, user_id=somebody, priority="P1")
        _published(world, new)
        world.stack.broker.restore(tmp_path / "old.rdb")
    _arrive_once(world, [*old, *new])
