"""A day without partitions, as when beat was dead for three weeks, loses no insert.

The insert that finds none makes its day and is done again.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from notifications.core.rules.states import Status
from notifications.core.store.postgres.partitions import TABLES
from notifyproj.devstack.demo.environment import now
from tests.scenarios.world import World

_CALLERS = 8


def test_accepting_makes_its_day(world: World) -> None:
    somebody = world.person(email="x@sandbox.example")
    for name in ("beat", "ops"):
        world.processes[name].kill()
    for table in TABLES:
        world.rows(f"DROP TABLE {table}_{now():%Y%m%d}")
    with ThreadPoolExecutor(_CALLERS) as callers:  # all of them find that it is missing
        codes = list(callers.map(world.send_otp, [somebody] * _CALLERS))
    world.start("beat", "ops")
    world.in_status(Status.DELIVERED, codes)
    assert world.shown(codes) == [1] * _CALLERS
