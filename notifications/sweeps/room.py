"""Room: how many rows of a lane the relay may hand to the broker now.

    the broker   READY_MESSAGES may wait in a lane, the rest waits as rows
    the breaker  patient lanes whose providers all rest: one row when a probe is due, none else
    the pace     patient lanes: no faster than their providers take it

So a backlog of marketing waits where it costs nothing, and does not go round through workers that
can only hold it. Urgent lanes are not slowed here: what is in them was published when it was born.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from notifications import clock, lanes
from notifications.pipeline import route
from notifications.rules.breaker import Forced
from notifications.rules.bucket import PATIENT_SHARE
from notifications.rules.lane import Lane, Mode
from notifications.store import breakers, controls
from notifications.store.breakers import Standing
from providers.contract import Channel, Pace, Provider

READY_MESSAGES: Final = 24
"""Messages that may wait in a lane.

12,000 deliveries, some seconds of work, so that a worker never runs dry between two ticks and a
wiped broker has little to lose.
"""


def of(depths: Mapping[Lane, int]) -> dict[Lane, int]:
    """Rows for each lane, by how many messages wait in it; a lane without room is left out."""
    providers = {lane: route.takers(lane.channel) for lane in depths if _is_watched(lane)}
    standings = breakers.standings({
        (each.name, lane.channel) for lane, taking in providers.items() for each in taking
    })
    rooms = {}
    for lane, depth in depths.items():
        room = (READY_MESSAGES - depth) * lanes.chunk_size(lane)
        if taking := providers.get(lane):
            room = min(room, _for_breakers(lane, depth, taking, standings), _pacer.room(taking))
        if room > 0:
            rooms[lane] = room
    return rooms


def used(lane: Lane, count: int) -> None:
    """So many rows were published."""
    if _is_watched(lane):
        _pacer.use(route.takers(lane.channel), count)


def _is_watched(lane: Lane) -> bool:
    return lane.mode is Mode.LIVE and not lane.priority.is_urgent


def _for_breakers(
    lane: Lane,
    depth: int,
    providers: Iterable[Provider],
    standings: Mapping[tuple[str, Channel], Standing],
) -> int:
    theirs = [standings[each.name, lane.channel] for each in providers]
    if not all(each.is_open for each in theirs):
        return _NO_LIMIT
    due = any(each.forced is not Forced.OPEN and not each.wait for each in theirs)
    return int(due and not depth)


_NO_LIMIT: Final = 1_000_000_000


class _Pacer:
    """What this process published of late, against the paces of the providers that take it.

    Another process that relays next begins with a burst: then workers hold what comes too soon.
    """

    def __init__(self) -> None:
        self._paid_at: dict[str, float] = {}

    def room(self, providers: Iterable[Provider]) -> int:
        """Rows that these providers together may be handed now."""
        paces = _paces(providers)
        if any(pace is None for pace in paces.values()):
            return _NO_LIMIT
        now = clock.monotonic()
        return sum(
            int(pace.burst - (max(self._paid_at.get(name, now), now) - now) * _rate(pace))
            for name, pace in paces.items()
            if pace is not None
        )

    def use(self, providers: Iterable[Provider], count: int) -> None:
        """Charge them, each with its part."""
        paces = {name: pace for name, pace in _paces(providers).items() if pace is not None}
        now, together = clock.monotonic(), sum(map(_rate, paces.values()))
        for name in paces:
            # A part by rate takes each of them the same time.
            self._paid_at[name] = max(self._paid_at.get(name, now), now) + count / together


def _paces(providers: Iterable[Provider]) -> dict[str, Pace | None]:
    set_by_operators = controls.current().paces
    return {
        each.name: set_by_operators.get(each.name, each.capabilities.pace) for each in providers
    }


def _rate(pace: Pace) -> float:
    return pace.per_second * PATIENT_SHARE


_pacer = _Pacer()
