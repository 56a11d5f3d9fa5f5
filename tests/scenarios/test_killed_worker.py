"""A worker killed at any moment loses nothing; a repeat is seen only where nobody could know.

killed before the call              sent once, later
killed while a retry waits          tried again, a few seconds late: the row is due by itself
killed during the call              sent again with the same key; where the provider knows no
                                    keys an OTP is seen at most twice, and mail stays `unknown`
killed after the provider's yes     the ledger knows: not sent again
stopped politely, as at a deploy    finishes its calls and hands the rest back: none is repeated
"""

from __future__ import annotations

import signal
from uuid import UUID

import pytest

from notifications.core.rules.ids import delivery_id
from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.scenarios.world import World

_HANGS = "x+hangx1+receipt-never@sandbox.example"
_SILENT = "x+receipt-never@sandbox.example"


def _called(world: World, notification: UUID, *, times: int = 1) -> None:
    until(
        lambda: (got := world.got([notification])) and got[notification]["call_count"] == times,
        what=f"call {times} has arrived at the provider",
    )


def test_killed_before_the_call_it_is_sent_once(world: World) -> None:
    somebody = world.person(email=_SILENT)
    worker = world.processes["p0"]
    worker.signal(signal.SIGSTOP)
    code = world.send_otp(somebody)
    with world.locked("notifications_contact"):
        worker.signal(signal.SIGCONT)
        world.in_status(Status.SENDING, [code])
        worker.kill()
    world.start("p0")
    world.expire_waits([code])
    world.in_status(Status.SENT, [code])
    assert world.got([code])[code]["call_count"] == 1
    assert "worker_lost" in world.reasons(code)


def test_killed_during_the_call_it_is_sent_again_with_the_same_key(world: World) -> None:
    code = world.send_otp(world.person(email=_HANGS))
    _called(world, code)
    world.processes["p0"].kill()
    world.start("p0")
    world.expire_waits([code])
    world.in_status(Status.SENT, [code])
    got = world.got([code])[code]
    assert len({call["idempotency_key"] for call in got["calls"]}) == 1
    assert (got["call_count"], got["shown"]) == (2, 1)


def test_killed_after_the_providers_yes_it_is_not_sent_again(world: World) -> None:
    somebody = world.person(email=_SILENT)
    with world.locked("attempt"):
        code = world.send_otp(somebody)
        until(lambda: world.ledger_has(delivery_id(code, 1)), what="the ledger knows")
        world.processes["p0"].kill()
    world.start("p0")
    world.expire_waits([code])
    world.in_status(Status.SENT, [code])
    assert world.got([code])[code]["call_count"] == 1
    assert "accepted_before_crash" in world.reasons(code)


def test_killed_while_a_retry_waits_it_is_tried_again(world: World) -> None:
    code = world.send_otp(world.person(email="x+429x1.after-2s+receipt-never@sandbox.example"))
    world.in_status(Status.RETRYING, [code])
    world.processes["p0"].kill()  # its countdown was in this worker's memory
    world.stack.broker.flush()
    world.start("p0")
    world.in_status(Status.SENT, [code])
    assert [call["status"] for call in world.got([code])[code]["calls"]] == [429, 202]
    assert "retry_due" in world.reasons(code)


def test_stopped_politely_it_repeats_nothing(world: World) -> None:
    somebody = world.person(email="x+slow-800ms@sandbox.example")
    mails = world.send_mails(150, user_id=somebody, priority="P1")
    until(lambda: world.got(mails), what="they are being sent")
    world.processes["channels"].stop()
    world.answer_at_once()
    world.start("channels")
    world.in_status(Status.DELIVERED, mails)
    assert [row["attempts"] for row in world.deliveries(mails)] == [1] * len(mails)
    assert world.shown(mails) == [1] * len(mails)


@pytest.mark.usefixtures("provider_shows_repeats")
def test_without_keys_an_otp_is_repeated_once_and_mail_stays_unknown(world: World) -> None:
    somebody = world.person(email="x+hang+receipt-never@sandbox.example")
    code = world.send_otp(somebody)
    [mail] = world.send_mails(1, user_id=somebody)
    for each in (code, mail):
        _called(world, each)
    for name in ("p0", "channels"):
        world.processes[name].kill()
    world.start("p0", "channels")
    world.expire_waits([code, mail])
    _called(world, code, times=2)
    world.in_status(Status.UNKNOWN, [mail])
    # Silent again: now it waits for a receipt, and nobody sends it a third time.
    world.processes["p0"].kill()
    world.start("p0")
    world.expire_waits([code])
    world.in_status(Status.UNKNOWN, [code, mail])
    assert world.shown([code, mail]) == [2, 1]
