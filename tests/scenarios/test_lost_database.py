"""Postgres restarts under load: what was accepted arrives once, and every process finds it again.

A producer is told 503 while it is away, and never 202 for what was not stored.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from uuid import UUID

from notifyproj.devstack.demo.environment import Unexpected, until
from tests.scenarios.world import World


def test_a_restart_under_load_loses_nothing(world: World) -> None:
    somebody = world.person(email="x+slow-200ms@sandbox.example")
    over = Event()
    refused: list[str] = []

    def hand_in() -> list[UUID]:
        accepted: list[UUID] = []
        while not over.is_set():
            try:
                accepted += world.send_mails(20, user_id=somebody)
            except (Unexpected, OSError) as error:
                refused.append(str(error))
            over.wait(0.1)
        return accepted

    with ThreadPoolExecutor(2) as producers:
        loads = [producers.submit(hand_in) for _ in range(2)]
        try:
            until(lambda: world.sandbox.messages(limit="1"), what="mails are being sent")
            world.stack.postgres.kill()
            world.stack.postgres.start()
            until(lambda: world.service("operator").ask("GET", "/readyz"), what="it is back")
        finally:
            over.set()
        mails = [each for load in loads for each in load.result(timeout=30)]
    world.expire_waits(mails)
    world.settled(mails)
    assert world.shown(mails) == [1] * len(mails)
    assert all(": 503 " in each for each in refused), refused
