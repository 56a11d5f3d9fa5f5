"""Room: how many rows of a lane the relay may hand to the broker now.

    the broker   NOTIFY_BROKER_MESSAGES may wait in a lane, the rest waits as rows
    the breaker  patient lanes whose providers all rest: one row when a probe is due, none else
    the pace     patient lanes: no faster than their providers take it

So a backlog of marketing waits where it costs nothing, and does not go round through workers that
can only hold it. Urgent lanes are not slowed here: what is in them was published when it was born.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, cast

from notifications import conf, lanes
from notifications.pipeline import route
from notifications.rules.breaker import Forced
from notifications.rules.bucket import PATIENT_SHARE
from notifications.rules.lane import Lane, Mode
from notifications.store import controls, standings, state
from notifications.store.standings import Standing
from providers.contract import Channel, Pace, Provider


def of(depths: Mapping[Lane, int]) -> dict[Lane, int]:
    """Rows for each lane, by how many messages wait in it; a lane without room is left out."""
    providers = {lane: route.takers(lane.channel) for lane in depths if _is_watched(lane)}
    found = standings.of_pairs({
        (each.name, lane.channel) for lane, taking in providers.items() for each in taking
    })
    rooms = {}
    for lane, depth in depths.items():
        room = (conf.current().broker_messages - depth) * lanes.chunk_size(lane)
        if taking := providers.get(lane):
            room = min(room, _for_breakers(lane, depth, taking, found), _for_pace(taking))
        if room > 0:
            rooms[lane] = room
    return rooms


def used(lane: Lane, count: int) -> None:
    """So many rows were published: charge their providers, each by its rate."""
    paces = _paces(route.takers(lane.channel)) if _is_watched(lane) else {}
    known = {name: pace for name, pace in paces.items() if pace is not None}
    if known:
        seconds = count / sum(map(_rate, known.values()))
        _asked(known, dict.fromkeys(known, seconds * _SECOND_US))


def _is_watched(lane: Lane) -> bool:
    return lane.mode is Mode.LIVE and not lane.priority.is_urgent


def _for_breakers(
    lane: Lane,
    depth: int,
    providers: Iterable[Provider],
    found: Mapping[tuple[str, Channel], Standing],
) -> int:
    theirs = [found[each.name, lane.channel] for each in providers]
    if not all(each.is_open for each in theirs):
        return _NO_LIMIT
    due = any(each.forced is not Forced.OPEN and not each.wait for each in theirs)
    return int(due and not depth)


_NO_LIMIT: Final = 1_000_000_000
_SECOND_US: Final = 1_000_000


def _for_pace(providers: Iterable[Provider]) -> int:
    """Rows that these providers together may be handed now."""
    paces = _paces(providers)
    known = {name: pace for name, pace in paces.items() if pace is not None}
    if len(known) < len(paces):
        return _NO_LIMIT
    return sum(_asked(known, dict.fromkeys(known, 0)))


def _asked(paces: Mapping[str, Pace], charges_us: Mapping[str, float]) -> list[int]:
    """Charge the providers' accounts; returns how many rows are free in each.

    The accounts stand in the state Redis, so that all relays keep one pace. While it is away, only
    the providers' buckets slow the workers down.
    """
    arguments: list[str | int | float | bytes] = []
    for name, pace in paces.items():
        arguments += [_SECOND_US / _rate(pace), pace.burst, charges_us[name]]
    try:
        found = state.call("relay_pace", [f"relay_pace:{name}" for name in paces], arguments)
    except state.Away:
        return [_NO_LIMIT]
    return cast("list[int]", found)


def _paces(providers: Iterable[Provider]) -> dict[str, Pace | None]:
    set_by_operators = controls.current().paces
    return {
        # A pace of each endpoint is no limit for all of them together.
        each.name: None
        if each.capabilities.endpoint_of
        else set_by_operators.get(each.name, each.capabilities.pace)
        for each in providers
    }


def _rate(pace: Pace) -> float:
    return pace.per_second * PATIENT_SHARE
