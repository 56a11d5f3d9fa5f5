"""Workers of a release start before its migration: lanes pause, and no message is lost.

A column that only the workers read is missing for a while. Each lane with traffic pauses, tries a
row a second and says so; what outlives its time is told; after the cure the rest arrives at once.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from uuid import UUID

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import now, until
from tests.scenarios.world import World, seconds_since

_MISMATCH = 16
"""Seconds: five tries of a row, each 5 s after the last, do not fit."""
_AFTER = dt.timedelta(seconds=30)
"""For P0 and P1 after the cure, on a busy machine."""


@contextmanager
def _missing_column(world: World) -> Iterator[None]:
    table = "ALTER TABLE notifications_preference RENAME"
    world.rows(f"{table} quiet_hours TO quiet_hours_of_another_release")
    try:
        yield
    finally:
        world.rows(f"{table} quiet_hours_of_another_release TO quiet_hours")


def test_nothing_is_lost_while_a_column_of_the_workers_is_missing(world: World) -> None:
    somebody = world.person(email="x@sandbox.example", sms="+15552000107")
    urgent: list[UUID] = []
    patient: list[UUID] = []
    with _missing_column(world):
        began = now()
        short = world.send_mails(1, user_id=somebody, priority="P1", ttl_seconds=5)
        for second in range(_MISMATCH):
            urgent.append(world.send_otp(somebody))
            urgent += world.send_mails(1, user_id=somebody, priority="P1")
            patient += world.send_mails(1, user_id=somebody, priority="P2")
            patient += world.send_mails(1, user_id=somebody, priority="P3", channels=["sms"])
            until(partial(_have_passed, began, second + 1), what="a second has passed")
        until(lambda: _paused(world) >= {"p0.email", "p1.email", "p2.email"}, what="they pause")
        # A paused lane tries one row a second, which is claimed for that moment.
        until(
            lambda: set(world.statuses(urgent + patient)) == {Status.QUEUED}, what="each row waits"
        )
        until(lambda: world.statuses(short) == [Status.EXPIRED], what="the time to live is told")
        ready = world.service("operator").ask("GET", "/readyz", None).body
        assert ready["status"] == "degraded"
        assert any("p1.email" in each and "quiet_hours" in each for each in ready["wrong"])
    world.in_status(Status.DELIVERED, urgent, within=_AFTER)
    world.in_status(Status.DELIVERED, patient)
    assert world.shown(urgent + patient) == [1] * len(urgent + patient)
    query = "SELECT 1 FROM notifications_deadletter WHERE notification_of(delivery_id) = ANY(%s)"
    assert not world.rows(query, urgent + patient)
    until(lambda: not _paused(world), what="every lane goes on")


def _have_passed(began: dt.datetime, seconds: int) -> bool:
    return seconds_since(began) >= seconds


def _paused(world: World) -> set[str]:
    found = world.rows(
        "SELECT subject FROM notifications_alert WHERE kind = 'lane_paused' AND resolved_at IS NULL"
    )
    return {row["subject"] for row in found}
