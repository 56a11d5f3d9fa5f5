"""Whatever comes twice happens once: a message in the broker, a producer's request, a replay."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from notifications.core.rules.ids import delivery_id
from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import Reply, Unexpected, until
from tests.scenarios.world import World

_CALLERS = 50


def test_one_id_in_many_tasks_is_called_once(world: World) -> None:
    somebody = world.person(email="x+slow-200ms@sandbox.example")
    worker = world.processes["p0"]
    worker.signal(signal.SIGSTOP)
    code = world.send_otp(somebody)
    for _ in range(6):
        world.publish("p0.email", [delivery_id(code, 1)])
    worker.signal(signal.SIGCONT)
    world.settled([code])
    assert world.got([code])[code]["call_count"] == 1
    [row] = world.deliveries([code])
    assert row["attempts"] == 1


def test_fifty_callers_with_one_key_make_one_notification(world: World) -> None:
    somebody = world.person(email="x@sandbox.example")
    service = world.service("auth-service")

    def ask(_number: int) -> Reply | Unexpected:
        try:
            return service.notify(world.otp(somebody), key=somebody)
        except Unexpected as error:
            return error

    with ThreadPoolExecutor(_CALLERS) as callers:
        replies = list(callers.map(ask, range(_CALLERS)))
    accepted = [reply.body["notification_id"] for reply in replies if isinstance(reply, Reply)]
    others = [str(reply) for reply in replies if isinstance(reply, Unexpected)]
    assert len(set(accepted)) == 1
    assert all(": 409 " in each for each in others), others
    stored = world.rows("SELECT id FROM notification WHERE user_id = %s", somebody)
    assert [row["id"] for row in stored] == [UUID(accepted[0])]
    world.settled([UUID(accepted[0])])
    assert world.shown([UUID(accepted[0])]) == [1]


def test_batches_in_opposite_order_do_not_deadlock(world: World) -> None:
    somebody = world.person(email="x@sandbox.example")
    service = world.service("order-service")
    batch = [world.mail(somebody, idempotency_key=f"{somebody}-{number}") for number in range(200)]

    def ask(turn: int) -> set[str]:
        asked = batch if turn % 2 else batch[::-1]
        body = {"notifications": asked}
        results = service.ask(
            "POST",
            "/v1/notifications/batch",
            body,
        ).body["results"]
        return {
            one["result"] if "problem" not in one else str(one["problem"]["status"])
            for one in results
        }

    with ThreadPoolExecutor(8) as callers:
        words = set().union(*callers.map(ask, range(8)))
    assert "accepted" in words
    assert words <= {"accepted", "duplicate", "409"}
    stored = world.rows("SELECT id FROM notification WHERE user_id = %s", somebody)
    mails = [row["id"] for row in stored]
    assert len(mails) == len(batch)
    world.settled(mails)
    assert world.shown(mails) == [1] * len(batch)


def test_a_letter_that_two_operators_replay_leaves_once(world: World) -> None:
    somebody = world.person(email="x+400+receipt-never@sandbox.example")
    [mail] = world.send_mails(1, user_id=somebody)
    world.in_status(Status.FAILED, [mail])
    operator = world.service("operator")
    [letter] = operator.ask("GET", "/v1/dead-letters?limit=1").body["results"]
    assert letter["notification_id"] == str(mail)
    operator.person(
        somebody, contacts=[{"channel": "email", "address": "x+receipt-never@sandbox.example"}]
    )

    def replay(_number: int) -> int:
        body = {"ids": [letter["id"]]}
        job = operator.ask(
            "POST",
            "/v1/dead-letters/replay",
            body,
        ).body
        found = until(
            lambda: (
                read
                if (read := operator.ask("GET", f"/v1/replay-jobs/{job['id']}").body)["finished_at"]
                else None
            ),
            what="the job ends",
        )
        replayed: int = found["replayed"]
        return replayed

    with ThreadPoolExecutor(2) as operators:
        assert sum(operators.map(replay, range(2))) == 1
    world.in_status(Status.SENT, [mail])
    got = world.got([mail])[mail]
    assert [call["status"] for call in got["calls"]] == [400, 202]
    # Refused for certain before: to the provider it is a new message.
    assert len({call["idempotency_key"] for call in got["calls"]}) == 2
