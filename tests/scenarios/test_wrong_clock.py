"""A host's clock is wrong: no OTP expires for it, and its process rests until the clock is right.

The clock of one process is set by `wrong_clock/sitecustomize.py`; everything else is real.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import Unexpected, until
from notifyproj.devstack.supervisor.process import ROOT
from tests.scenarios.world import World

_HOUR = 3600
_ARRIVED = {Status.SENT, Status.DELIVERED}
_FOLDER = Path(__file__).parent / "wrong_clock"

SetClock = Callable[[float], object]


@contextmanager
def _with_a_clock_of_its_own(
    world: World, name: str, folder: Path, off: float, *, broker_url: str = ""
) -> Iterator[SetClock]:
    """Run a process with a clock that is `off` seconds wrong; yield the setter of the clock."""
    file = folder / name
    file.write_text(str(off))
    path = os.pathsep.join((str(_FOLDER), str(ROOT)))
    world.processes[name].kill()
    broker = {"CELERY_BROKER_URL": broker_url} if broker_url else {}
    odd = world.process(name, PYTHONPATH=path, WRONG_CLOCK_FILE=str(file), **broker)
    world.processes[name], usual = odd, world.processes[name]
    odd.start()
    if not broker_url:  # a worker without a broker is never ready
        odd.wait_ready()
    try:
        yield lambda seconds: file.write_text(str(seconds))
    finally:
        odd.kill()
        world.processes[name] = usual
        world.start(name)


def _alerts(world: World) -> list[str]:
    found = world.rows(
        "SELECT detail FROM notifications_alert WHERE kind = 'clock_skew' AND resolved_at IS NULL"
    )
    return [str(row["detail"]) for row in found]


def _is_refused(world: World, user_id: str) -> bool:
    try:
        world.send_otp(user_id)
    except Unexpected as error:
        return ": 503 " in str(error)
    return False


@pytest.mark.parametrize("off", [-2 * _HOUR, 5])
def test_a_web_host_whose_clock_is_wrong_refuses_until_it_is_right(
    world: World, tmp_path: Path, off: float
) -> None:
    somebody = world.person(email="x@sandbox.example")
    with _with_a_clock_of_its_own(world, "web", tmp_path, off) as set_clock:
        assert _is_refused(world, somebody)
        until(lambda: len(_alerts(world)) == 1, what="the alert")
        set_clock(0)
        until(lambda: not _is_refused(world, somebody), what="it accepts again")
        code = world.send_otp(somebody)
        world.settled([code])
        assert set(world.statuses([code])) <= _ARRIVED
        until(lambda: not _alerts(world), what="the alert is resolved")


def test_a_worker_whose_clock_is_wrong_takes_nothing_and_lets_nothing_expire(
    world: World, tmp_path: Path
) -> None:
    somebody = world.person(email="x@sandbox.example")
    with _with_a_clock_of_its_own(world, "p0", tmp_path, 2 * _HOUR) as set_clock:
        until(lambda: len(_alerts(world)) == 1, what="the alert")
        codes = [world.send_otp(somebody) for _ in range(3)]
        assert set(world.statuses(codes)) <= {Status.QUEUED, *_ARRIVED}
        set_clock(0)
        world.settled(codes)
        assert set(world.statuses(codes)) <= _ARRIVED
        assert world.shown(codes) == [1] * 3
        until(lambda: not _alerts(world), what="the alert is resolved")


def test_a_worker_that_the_broker_never_lets_in_takes_nothing_with_a_wrong_clock(
    world: World, tmp_path: Path
) -> None:
    somebody = world.person(email="x@sandbox.example")
    broker = world.stack.broker
    refused = broker.url.replace(broker.password, "a-wrong-password")
    with _with_a_clock_of_its_own(
        world, "p0", tmp_path, 2 * _HOUR, broker_url=refused
    ) as set_clock:
        until(lambda: len(_alerts(world)) == 1, what="the alert")
        codes = [world.send_otp(somebody) for _ in range(3)]
        assert set(world.statuses(codes)) == {Status.QUEUED}
        set_clock(0)
        world.settled(codes)
        assert set(world.statuses(codes)) <= _ARRIVED
        until(lambda: not _alerts(world), what="the alert is resolved")
