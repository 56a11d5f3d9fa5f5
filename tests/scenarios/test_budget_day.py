"""A hard budget holds exactly while workers are killed, a lease is lost and a day ends.

The timezone of the budget moves to a place where the next day has begun: midnight, for the service.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import now, until
from providers.contract import Channel
from tests.scenarios.world import World

_MAIL: Final = 100
"""Price of a mail in microdollars."""
_DAY: Final = 50 * _MAIL
_MAILS: Final = 80
_SLOW: Final = "x+slow-300ms+receipt-never@sandbox.example"
_PATIENCE: Final = timedelta(seconds=180)
"""Longer than the sweep leaves a reservation: the last transaction of a killed worker can be
committed after the rescue."""


@pytest.fixture
def budget(world: World) -> Iterator[int]:
    """An older budget of 50 mails a day, in a timezone whose date is behind."""
    zone = _far_from_midnight("Etc/GMT+12", "Etc/GMT+11")
    [row] = world.rows(
        "INSERT INTO budget (channel, amount_micros, alert_percent, is_hard, timezone, created_at)"
        " VALUES (%s, %s, 80, true, %s, now() - interval '3 days') RETURNING id",
        Channel.EMAIL,
        _DAY,
        zone,
    )
    world.restart("channels")  # a running worker reads the budgets up to a second later
    yield row["id"]
    world.rows("DELETE FROM budget_day WHERE budget_id = %s", row["id"])
    world.rows("DELETE FROM budget WHERE id = %s", row["id"])


def _far_from_midnight(*zones: str) -> str:
    """Return the timezone whose day ends last: the day of the budget ends after the test."""
    return min(zones, key=lambda zone: now().astimezone(ZoneInfo(zone)).time())


def _used(world: World, budget: int) -> list[int]:
    """Return the reserved and spent money of each day; no day is above the budget."""
    rows = world.rows(
        "SELECT used_micros FROM budget_day WHERE budget_id = %s ORDER BY day", budget
    )
    used = [row["used_micros"] for row in rows]
    assert all(each <= _DAY for each in used), used
    return used


def test_no_day_costs_more_than_its_budget(world: World, budget: int) -> None:
    [second] = world.start_extra("channels")
    mails = world.send_mails(_MAILS, user_id=world.person(email=_SLOW))
    until(lambda: _used(world, budget), what="calls have begun")
    second.kill()
    world.processes["channels"].signal(signal.SIGSTOP)
    world.forget_the_killed(mails)  # the leases of the killed and the frozen worker end
    [third] = world.start_extra("channels")
    until(lambda: "worker_lost" in _reasons(world, mails), what="a lease was lost")
    world.processes["channels"].signal(signal.SIGCONT)

    def is_spent() -> bool:
        return _is_at_rest(world) and _used(world, budget) == [_DAY]

    until(is_spent, what="the money is spent and the other mails wait", within=_PATIENCE)
    assert _calls(world, mails) * _MAIL == sum(_used(world, budget))

    ahead = _far_from_midnight("Etc/GMT-14", "Etc/GMT-13")
    world.rows("UPDATE budget SET timezone = %s WHERE id = %s", ahead, budget)
    world.expire_waits(mails)
    third.kill()
    world.forget_the_killed(mails)
    world.in_status(Status.SENT, mails, within=_PATIENCE)
    until(lambda: _is_at_rest(world), what="no money is reserved", within=_PATIENCE)
    assert len(_used(world, budget)) == 2
    assert _calls(world, mails) * _MAIL == sum(_used(world, budget))


def _is_at_rest(world: World) -> bool:
    """Return True if no call is under way and no money is reserved."""
    [found] = world.rows(
        "SELECT (SELECT count(*) FROM budget_reservation)"
        " + (SELECT count(*) FROM delivery WHERE status = ANY(%s)) AS count",
        [Status.QUEUED, Status.SENDING, Status.RETRYING],
    )
    return bool(found["count"] == 0)


def _reasons(world: World, mails: Sequence[UUID]) -> set[str]:
    rows = world.rows("SELECT reason FROM event WHERE notification_id = ANY(%s)", list(mails))
    return {row["reason"] for row in rows}


def _calls(world: World, mails: Sequence[UUID]) -> int:
    """Return the number of calls that were accepted or may have been."""
    [found] = world.rows(
        "SELECT count(*) FROM attempt a JOIN delivery d ON d.id = a.delivery_id"
        " WHERE notification_of(d.id) = ANY(%s) AND a.outcome IN ('accepted', 'unanswered')",
        list(mails),
    )
    return int(found["count"])
