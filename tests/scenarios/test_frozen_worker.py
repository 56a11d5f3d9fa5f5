"""A worker that stands still past its lease, and then goes on, does no harm.

Its rows are taken from it when the lease ends. What it reports afterwards is believed only as far
as it is evidence: an acceptance settles a row that nobody else is sending at that moment, and a
refusal moves a row that is `unknown` (`tests/delivery/test_late_refusals.py`).
"""

from __future__ import annotations

import signal
from uuid import UUID

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.scenarios.world import World

_SLOW = "x+slow-800ms+receipt-never@sandbox.example"


def _freeze_in_the_call(world: World) -> UUID:
    code = world.send_otp(world.person(email=_SLOW))
    until(lambda: world.got([code]), what="the call is under way")
    world.processes["p0"].signal(signal.SIGSTOP)
    return code


def test_its_late_yes_settles_what_nobody_took_over(world: World) -> None:
    code = _freeze_in_the_call(world)
    # The real lease: six seconds.
    until(lambda: "worker_lost" in world.reasons(code), what="the lease ends")
    world.processes["p0"].signal(signal.SIGCONT)
    world.in_status(Status.SENT, [code])
    assert world.shown([code]) == [1]


def test_another_worker_that_took_over_is_not_disturbed(world: World) -> None:
    code = _freeze_in_the_call(world)
    world.start_extra("p0")
    world.expire_waits([code])
    until(lambda: world.got([code])[code]["call_count"] == 2, what="the other worker calls")
    world.processes["p0"].signal(signal.SIGCONT)
    world.in_status(Status.SENT, [code])
    [row] = world.deliveries([code])
    assert (row["attempts"], row["claims"], row["claim_token"]) == (2, 0, None)
    assert world.shown([code]) == [1]
