"""A schedule makes one notification of each occurrence, whoever dies while it does.

beat dead over some occurrences       the coming day is complete; of what was missed, the last
two beats, two sweepers               each occurrence is made once
the sweeper killed while it makes it  nothing of it stays, and the next one makes it
web killed while it changes it        the schedule is as it was before, or as it was asked to be
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import pytest

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import now, until
from tests.scenarios.world import World

_RULE: Final = "FREQ=MINUTELY;INTERVAL=30"
_STEP: Final = timedelta(minutes=30)
_DAY: Final = timedelta(days=1)
_HALF_A_STEP_AGO: Final = timedelta(minutes=15)
"""So that nothing occurs while the test runs."""


@pytest.fixture(autouse=True)
def _nothing_recurs_afterwards(world: World) -> Iterator[None]:
    yield
    world.start("web")
    for row in world.rows("SELECT id FROM notifications_schedule WHERE name LIKE 'somebody%%'"):
        _change(world, row, {"paused": True})


def test_beat_dead_over_occurrences_then_doubled_makes_each_once(world: World) -> None:
    for name in ("beat", "ops"):
        world.processes[name].kill()
    schedule = _made(world, began=now() - 6 * _STEP - _HALF_A_STEP_AGO)
    _stood_still(world, schedule)
    world.start("beat", "ops")
    world.start_extra("beat", "ops")
    _until_made(world, schedule, of_the_past=1)
    [late] = [row["notification_id"] for row in _occurrences(world, schedule) if row["at"] < now()]
    world.in_status(Status.SENT, [late])
    coming = _next_of(world, schedule)
    world.expire_waits([coming])
    world.in_status(Status.SENT, [coming])
    assert world.shown([late, coming]) == [1, 1]
    _each_once(world, schedule)


def test_a_sweeper_killed_while_it_makes_them_leaves_nothing_half_made(world: World) -> None:
    world.processes["beat"].kill()
    schedule = _made(world, began=now() - _HALF_A_STEP_AGO)
    with world.locked("notifications_occurrence"):  # the last step of making them
        world.start("beat")
        _until_waiting_for(world, "notifications_occurrence")
        world.processes["ops"].kill()
    assert not _notifications(world, schedule)
    world.start("ops")
    _until_made(world, schedule, of_the_past=0)
    _each_once(world, schedule)


def test_web_killed_while_it_changes_a_schedule_changes_nothing(world: World) -> None:
    schedule = _made(world, began=now() - _HALF_A_STEP_AGO)
    _until_made(world, schedule, of_the_past=0)
    before, asked = _occurrences(world, schedule), _told(world, schedule)
    with ThreadPoolExecutor(1) as producer, world.locked("notifications_occurrence"):
        asking = producer.submit(_change, world, schedule, {"rrule": "FREQ=HOURLY"})
        _until_waiting_for(world, "notifications_occurrence")
        world.processes["web"].kill()
        with pytest.raises(ConnectionError):
            asking.result(timeout=10)
    world.start("web")
    assert (_occurrences(world, schedule), _told(world, schedule)) == (before, asked)
    _change(world, schedule, {"rrule": "FREQ=HOURLY"})
    until(lambda: len(_occurrences(world, schedule)) == _DAY // (2 * _STEP), what="its day")
    withdrawn = [row["notification_id"] for row in before]
    world.in_status(Status.CANCELLED, withdrawn)
    stay = {row["notification_id"] for row in _occurrences(world, schedule)}
    assert set(_notifications(world, schedule)) == {*withdrawn, *stay}


Schedule = dict[str, Any]
"""As the API tells of it."""


def _made(world: World, *, began: datetime) -> Schedule:
    user_id = world.person(email="x+receipt-never@sandbox.example")
    asked = {
        "name": user_id,
        "rrule": _RULE,
        "timezone": "UTC",
        "starts_at": began.isoformat(),
        "notification": world.mail(user_id),
    }
    return world.service("order-service").ask("POST", "/v1/schedules", asked).body


def _change(world: World, schedule: Schedule, changes: dict[str, object]) -> None:
    world.service("order-service").ask("PATCH", f"/v1/schedules/{schedule['id']}", changes)


def _told(world: World, schedule: Schedule) -> Schedule:
    return world.service("order-service").ask("GET", f"/v1/schedules/{schedule['id']}").body


def _stood_still(world: World, schedule: Schedule) -> None:
    """Put the next occurrence of a schedule back to its start, as after a stop of the sweeps."""
    began = datetime.fromisoformat(schedule["starts_at"])
    world.rows(
        "UPDATE notifications_schedule SET next_local = %s, due_at = %s WHERE id = %s",
        began.replace(tzinfo=None).isoformat(timespec="seconds"),
        began - _DAY,
        schedule["id"],
    )


def _occurrences(world: World, schedule: Schedule) -> list[dict[str, Any]]:
    return world.rows(
        "SELECT at, notification_id FROM notifications_occurrence WHERE schedule_id = %s"
        " ORDER BY at",
        schedule["id"],
    )


def _notifications(world: World, schedule: Schedule) -> list[UUID]:
    found = world.rows("SELECT id FROM notification WHERE user_id = %s", schedule["name"])
    return [row["id"] for row in found]


def _next_of(world: World, schedule: Schedule) -> UUID:
    coming: list[UUID] = [
        row["notification_id"] for row in _occurrences(world, schedule) if row["at"] > now()
    ]
    return coming[0]


def _until_made(world: World, schedule: Schedule, *, of_the_past: int) -> None:
    """Wait until there is what the coming day should have."""
    wanted = of_the_past + _DAY // _STEP
    until(lambda: len(_occurrences(world, schedule)) >= wanted, what=f"{wanted} are made")


def _each_once(world: World, schedule: Schedule) -> None:
    """Assert one notification for each half hour of the coming day."""
    made = _occurrences(world, schedule)
    began = datetime.fromisoformat(schedule["starts_at"]).replace(microsecond=0)
    first = -(-(now() - began) // _STEP)
    coming = [began + number * _STEP for number in range(first, first + _DAY // _STEP)]
    assert [row["at"] for row in made if row["at"] > now()] == coming
    ids = [row["notification_id"] for row in made]
    assert sorted(ids) == sorted(_notifications(world, schedule))


def _until_waiting_for(world: World, table: str) -> None:
    """Somebody of the product has come to a locked table."""
    query = "SELECT 1 FROM pg_locks WHERE relation = to_regclass(%s) AND NOT granted"
    until(lambda: world.rows(query, table), what=f"somebody waits for {table}")
