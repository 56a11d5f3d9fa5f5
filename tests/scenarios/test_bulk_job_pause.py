"""A bulk job heeds pause, resume and cancel while messages leave and processes are killed.

The provider takes 0.3 s for a message and shows repeats, so a message that was sent twice is seen
twice.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from uuid import UUID

import pytest

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import now, until
from tests.scenarios import bulk_jobs
from tests.scenarios.world import World, seconds_since

_PATIENCE = timedelta(seconds=90)
_RECIPIENTS = 80
_PER_SECOND = 8
_QUIET_SECONDS = 3.0
"""Seconds without a call after the rows are held; the rate of the job would send 24 messages."""


def _ask(world: World, job: str, verb: str, **body: str) -> None:
    world.service("marketing").ask("POST", f"/v1/bulk-jobs/{job}/{verb}", body)


def _messages(world: World, job: str) -> list[UUID]:
    found = world.rows("SELECT id FROM notification WHERE bulk_job_id = %s ORDER BY id", UUID(job))
    return [row["id"] for row in found]


def _is_held(world: World, job: str) -> bool:
    open_rows = [
        (row["status"], row["reason"])
        for row in world.deliveries(_messages(world, job))
        if row["status"] not in {Status.SENT, Status.DELIVERED}
    ]
    return set(open_rows) == {(Status.SCHEDULED, "paused")}


def _no_call_begins(world: World, job: str) -> set[UUID]:
    """Check that no message arrives in some seconds; returns the messages that had arrived."""
    before = set(world.got(_messages(world, job)))
    began = now()
    until(lambda: seconds_since(began) > _QUIET_SECONDS, what="some seconds have passed")
    assert set(world.got(_messages(world, job))) == before
    return before


@pytest.mark.usefixtures("provider_shows_repeats")
def test_pause_resume_and_cancel_of_a_job_that_sends(world: World) -> None:
    [expander] = world.start_extra("expand")
    people = [
        world.person(email=f"r{number}+slow-300ms@sandbox.example") for number in range(_RECIPIENTS)
    ]
    job = bulk_jobs.start(world, people, rate_per_second=_PER_SECOND)
    until(lambda: len(world.got(_messages(world, job))) > 5, what="some arrive", within=_PATIENCE)

    _ask(world, job, "pause", reason="the text is wrong")
    until(lambda: _is_held(world, job), what="all other messages are held", within=_PATIENCE)
    world.kill_and_restart(expander, world.processes["channels"], world.processes["ops"])
    held = _no_call_begins(world, job)
    assert len(held) < _RECIPIENTS
    code = world.send_otp(people[0])
    world.in_status(Status.DELIVERED, [code])

    _ask(world, job, "resume")
    world.until_more_than(len(held) + 5, _messages(world, job))
    _ask(world, job, "cancel", reason="the offer is over")
    messages = _messages(world, job)
    world.settled(messages, within=_PATIENCE)
    arrived = _no_call_begins(world, job)
    assert _messages(world, job) == messages, "a cancelled job goes on with its expansion"
    ends = Counter(world.statuses(messages))
    assert ends == {
        Status.DELIVERED: len(arrived),
        Status.CANCELLED: len(messages) - len(arrived),
    }
    assert 0 < ends[Status.CANCELLED] < _RECIPIENTS
    assert world.shown(messages) == [int(each in arrived) for each in messages]
    shown = world.service("marketing").ask("GET", f"/v1/bulk-jobs/{job}").body
    assert (shown["state"], shown["state_reason"]) == ("cancelled", "the offer is over")
