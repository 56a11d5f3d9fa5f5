"""Cap: what a person has had enough of waits, or is dropped (`rules.caps`).

Asked after every gate has let a delivery pass, so that only what would leave is counted; in one
call for the whole batch, and in none when no delivery of it has a cap. While the state Redis is
away nobody can tell who has had enough: P1 leaves, P2 and P3 wait for it.

A notification that was counted and never left is taken back, by whoever ended it: only rows that
moved under the claim's own token are handed in, so a worker that lost its lease takes nothing back.
Test mode neither counts nor waits.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

import structlog

from notifications import clock, conf
from notifications.models import Delivery
from notifications.pipeline.job import Job
from notifications.rules import caps as rules
from notifications.rules import ids
from notifications.rules.caps import Over
from notifications.rules.channels import Stop
from notifications.rules.lane import Mode, Priority
from notifications.rules.states import Status
from notifications.store import caps, moves, state
from notifications.store.caps import Ask, Window
from notifications.store.moves import Claimed, Move
from providers.contract import Channel

_log = structlog.get_logger(__name__)

CAP: Final = "cap"
"""The hold's reason: their window is full."""
AWAY: Final = "cap_unknown"
"""The hold's reason: the state Redis cannot tell."""
_LOOK_AGAIN: Final = dt.timedelta(seconds=15)
"""How long rows wait for the state Redis, and over what time they are then spread."""

_Places = dict[tuple[UUID, Channel], list[Claimed]]
"""Live deliveries that have a cap: those of a notification on a channel count as one."""


@dataclass(slots=True)
class _Stopped:
    """What does not leave now."""

    held: list[Move] = field(default_factory=list)
    dropped: list[Move] = field(default_factory=list)


def let_pass(jobs: Sequence[Job], *, token: UUID) -> list[Job]:
    """Count these, hold or drop those that are too many; returns the others, in order.

    What is held comes due by itself; it is committed.
    """
    asks, places = _asks(jobs)
    if not asks:
        return list(jobs)
    try:
        stopped = _over_their_cap(asks, places)
    except state.Away:
        stopped = _until_redis_is_back(places)
    if not (stopped.held or stopped.dropped):
        return list(jobs)
    moves.move(Status.SCHEDULED, stopped.held, token=token)
    moves.move(Status.SUPPRESSED, stopped.dropped, token=token)
    _log.info("capped", deferred=len(stopped.held), dropped=len(stopped.dropped))
    ids_stopped = {each.id for each in (*stopped.held, *stopped.dropped)}
    return [job for job in jobs if job.delivery.id not in ids_stopped]


def _asks(jobs: Iterable[Job]) -> tuple[list[Ask], _Places]:
    """One ask for each of the places, in their order."""
    usual = conf.current().caps
    asks: list[Ask] = []
    places: _Places = {}
    for job in jobs:
        delivery = job.delivery
        priority, channel = delivery.priority, delivery.channel
        cap = rules.cap_for(priority, channel, own=job.destination.caps, usual=usual)
        if cap is None or delivery.mode is not Mode.LIVE:
            continue
        beside = places.setdefault((job.asked.id, channel), [])
        if not beside:
            window = Window(delivery.recipient_id, channel)
            asks.append(Ask(job.asked.id, window, cap, rules.OVER[priority] is Over.LEAVES))
        beside.append(delivery)
    return asks, places


def _over_their_cap(asks: Sequence[Ask], places: _Places) -> _Stopped:
    """Ask for all of them at once.

    Raises:
        state.Away: nobody can tell.
    """
    stopped = _Stopped()
    for ask, deliveries, wait in zip(asks, places.values(), caps.count(asks), strict=True):
        if not wait:
            continue
        if rules.OVER[deliveries[0].priority] is Over.WAITS:
            stopped.held += [Move(id=each.id, reason=CAP, due_in=wait) for each in deliveries]
        else:
            had = f"they have had {ask.cap}"
            stopped.dropped += [
                Move(id=each.id, reason=Stop.CAPPED, detail=had) for each in deliveries
            ]
    return stopped


def _until_redis_is_back(places: _Places) -> _Stopped:
    return _Stopped(
        held=[
            Move(id=each.id, reason=AWAY, due_in=_LOOK_AGAIN * (1 + clock.jitter()))
            for deliveries in places.values()
            for each in deliveries
            if rules.OVER[each.priority] is not Over.LEAVES
        ]
    )


def refund(ended: Iterable[Claimed | Delivery], *, moved: Collection[UUID]) -> None:
    """Take back what was counted for those of these that `moved` to an end without being sent."""
    counted = {
        (Window(each.recipient_id, Channel(each.channel)), ids.notification_of(each.id))
        for each in ended
        if each.id in moved and each.mode == Mode.LIVE and rules.is_counted(Priority(each.priority))
    }
    if counted:
        caps.refund(counted)
