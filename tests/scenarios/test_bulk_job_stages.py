"""Bulk jobs go through their stages with real workers, and a bad job is aborted in the middle.

A test group is sent first and the others follow after the wait. The sample of an A/B test is sent,
the service chooses the winner, and all others get the winner. A job whose messages bounce is
aborted while a rate holds most of the messages, and a one-time password passes.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.scenarios import bulk_jobs
from tests.scenarios.world import World

_PATIENCE = timedelta(seconds=120)


def _shown(world: World, job: str) -> dict[str, Any]:
    found: dict[str, Any] = world.service("marketing").ask("GET", f"/v1/bulk-jobs/{job}").body
    return found


def _sent(world: World, job: str) -> list[dict[str, Any]]:
    return world.rows("SELECT id, variant FROM notification WHERE bulk_job_id = %s", UUID(job))


def _all_delivered(world: World, job: str, count: int) -> None:
    until(lambda: len(_sent(world, job)) == count, what=f"{count} messages", within=_PATIENCE)
    world.in_status(Status.DELIVERED, [row["id"] for row in _sent(world, job)], within=_PATIENCE)


def _until_reason(world: World, job: str, begin: str) -> None:
    until(
        lambda: _shown(world, job)["state_reason"].startswith(begin), what=begin, within=_PATIENCE
    )


def _end_waits(world: World, job: str) -> None:
    world.rows(
        "UPDATE bulk_job_pace SET test_group_ends_at = least(test_group_ends_at, now()),"
        " sample_ends_at = least(sample_ends_at, now()) WHERE job_id = %s",
        UUID(job),
    )


def test_test_group_winner_and_abort(world: World) -> None:
    world.start_extra("expand")
    group = [world.person(email=f"g{n}@sandbox.example") for n in range(6)]
    halves = [world.person(email=f"h{n}@sandbox.example") for n in range(24)]
    bad = [world.person(email=f"b{n}+receipt-bounced@sandbox.example") for n in range(60)]
    grouped = bulk_jobs.start(world, group, test_group={"size": 2, "wait_seconds": 3600})
    tested = bulk_jobs.start(
        world,
        halves,
        variants=[{"name": "plain", "percent": 50}, {"name": "bold", "percent": 50}],
        winner={"metric": "delivered", "sample_percent": 50, "after_seconds": 3600},
    )
    limits = {"bounced": 0.2, "minimum": 5}
    bouncing = bulk_jobs.start(world, bad, rate_per_second=1, abort_limits=limits)

    _until_reason(world, grouped, "The test group is complete.")
    _all_delivered(world, grouped, 2)
    _end_waits(world, grouped)
    _all_delivered(world, grouped, 6)

    _until_reason(world, tested, "The sample is complete.")
    sample = {row["id"] for row in _sent(world, tested)}
    assert 0 < len(sample) < len(halves)
    _end_waits(world, tested)
    _all_delivered(world, tested, len(halves))
    others = Counter(row["variant"] for row in _sent(world, tested) if row["id"] not in sample)
    assert set(others) == {_shown(world, tested)["winner"]} == {"plain"}

    _aborted_while_codes_pass(world, bouncing, bad, user=group[0])


def _aborted_while_codes_pass(world: World, bouncing: str, bad: list[str], *, user: str) -> None:
    until(lambda: _shown(world, bouncing)["state"] == "aborted", what="abort", within=_PATIENCE)
    code = world.send_otp(user)
    world.in_status(Status.DELIVERED, [code])
    messages = [row["id"] for row in _sent(world, bouncing)]
    world.settled(messages, within=_PATIENCE)
    ends = Counter(world.statuses(messages))
    assert ends[Status.BOUNCED] < len(bad)
    assert ends[Status.BOUNCED] + ends[Status.CANCELLED] == len(messages)
    assert (
        "messages bounced, more than the limit of 20.0%" in _shown(world, bouncing)["state_reason"]
    )
    alerts = world.rows("SELECT subject FROM notifications_alert WHERE kind = 'bulk_job_aborted'")
    assert bouncing in {row["subject"] for row in alerts}
