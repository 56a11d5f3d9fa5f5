"""Without the state Valkey everything goes on: it holds a second opinion on everything, no truth.

Keys are still exact, sending goes on without the ledger, and limits are kept by each process.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.scenarios.world import World


@pytest.fixture
def _state_comes_back(world: World) -> Iterator[None]:
    yield
    world.stack.state.start()


@pytest.mark.usefixtures("_state_comes_back")
def test_killed_under_load_it_loses_and_doubles_nothing(world: World) -> None:
    somebody = world.person(email="x+slow-200ms@sandbox.example")
    mails = world.send_mails(200, user_id=somebody)
    until(lambda: world.got(mails), what="they are being sent")
    world.stack.state.kill()
    mails += world.send_mails(200, user_id=somebody)
    world.in_status(Status.DELIVERED, mails)
    assert world.shown(mails) == [1] * len(mails)


@pytest.mark.usefixtures("_state_comes_back")
def test_a_key_is_still_taken_once(world: World) -> None:
    somebody = world.person(email="x@sandbox.example")
    world.stack.state.kill()
    service = world.service("order-service")
    batch = [world.mail(somebody, idempotency_key=f"{somebody}-{number}") for number in range(50)]

    def ask(_turn: int) -> list[str]:
        body = {"notifications": batch}
        results = service.ask("POST", "/v1/notifications/batch", body).body["results"]
        return [one["result"] for one in results]

    with ThreadPoolExecutor(4) as callers:
        answers = [word for words in callers.map(ask, range(4)) for word in words]
    assert answers.count("accepted") == len(batch)
    stored = world.rows("SELECT id FROM notification WHERE user_id = %s", somebody)
    mails = [row["id"] for row in stored]
    world.in_status(Status.DELIVERED, mails)
    assert world.shown(mails) == [1] * len(batch)
