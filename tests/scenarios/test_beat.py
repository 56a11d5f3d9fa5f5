"""Beat may be doubled, dead or have a wrong clock: sweeps run once a slot, late at worst.

Which sweep may run is won in Postgres, on Postgres's clock; a dead beat is told by the web process.
"""

from __future__ import annotations

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.brokers import valkey_only
from tests.scenarios.world import World


def _ready(world: World) -> dict[str, object]:
    found: dict[str, object] = world.service("operator").ask("GET", "/readyz").body
    return found


def test_two_beats_and_two_sweepers_publish_nothing_twice(world: World) -> None:
    world.start_extra("beat", "ops")
    somebody = world.person(email="x@sandbox.example")
    mails = world.send_mails(100, user_id=somebody)
    world.in_status(Status.DELIVERED, mails)
    assert [row["attempts"] for row in world.deliveries(mails)] == [1] * len(mails)
    assert world.shown(mails) == [1] * len(mails)


@valkey_only
def test_the_messages_of_sweeps_are_not_acknowledged(world: World) -> None:
    with world.broker() as broker:

        def calls(command: str) -> int:
            return int(broker.info("commandstats").get(f"cmdstat_{command}", {}).get("calls", 0))

        sent, acknowledged = calls("lpush"), calls("hdel")
        until(lambda: calls("lpush") - sent >= 50, what="beat sent 50 messages")
        assert calls("hdel") - acknowledged < 10  # of an earlier delivery, at most


def test_a_dead_beat_is_told_by_web_and_what_waited_leaves_when_it_is_back(world: World) -> None:
    world.processes["beat"].kill()

    def is_told() -> bool:
        # Again and again, because the ops worker still runs the last messages of beat.
        world.rows(
            "UPDATE notifications_sweeprun SET started_at = started_at - interval '40 seconds'"
        )
        return "beat or the ops worker is dead" in str(_ready(world).get("wrong"))

    until(is_told, what="/readyz says so")
    open_alerts = world.rows(
        "SELECT 1 FROM notifications_alert WHERE kind = 'beat_dead' AND resolved_at IS NULL"
    )
    assert len(open_alerts) == 1
    [mail] = world.send_mails(1, user_id=world.person(email="x@sandbox.example"))
    world.start("beat")
    world.in_status(Status.DELIVERED, [mail])


def test_sweeps_that_ran_in_the_future_run_again_when_the_clock_is_put_right(world: World) -> None:
    # What a database's clock that was an hour ahead leaves behind.
    world.rows("UPDATE notifications_sweeprun SET started_at = now() + interval '1 hour'")
    [mail] = world.send_mails(1, user_id=world.person(email="x@sandbox.example"))
    world.in_status(Status.DELIVERED, [mail])


def test_a_beat_whose_own_clock_was_ahead_ticks_again(world: World) -> None:
    world.processes["beat"].kill()
    world.rows("UPDATE django_celery_beat_periodictask SET last_run_at = now() + interval '1 hour'")
    [mail] = world.send_mails(1, user_id=world.person(email="x@sandbox.example"))
    world.start("beat")
    world.in_status(Status.DELIVERED, [mail])


def test_two_beats_are_named_by_readyz_within_a_minute_until_one_ends(world: World) -> None:
    def doubled() -> str:
        _, found, said = str(_ready(world).get("wrong")).partition("beat runs 2 times")
        return found and said

    [extra] = world.start_extra("beat")
    said = until(doubled, what="/readyz names both beats")
    assert said.count("(process ") == 2
    extra.kill()
    until(lambda: not doubled(), what="/readyz names no second beat")
    rows = world.rows("SELECT resolved_at FROM notifications_alert WHERE kind = 'beat_doubled'")
    # Scenarios before this one may have had two beats, too.
    assert {row["resolved_at"] is not None for row in rows} == {True}
