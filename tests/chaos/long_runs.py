"""Long runs, which `RUNS=all` leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from notifications.core.rules.lane import Priority
from tests.chaos.named import Tokens
from tests.chaos.plans import CHANNELS, WELL, Action, Deed, Manner, Plan
from tests.chaos.push_outages import outage_15_minutes

_MINUTE: Final = 60.0
_AWAY: Final = Manner(unavailable=1.0)
_THROTTLES: Final = Manner(throttled=1.0, retry_after=2)
_SILENT: Final = Manner(hangs=1.0)
_MANNERS: Final = {"sms": _AWAY, "push": _THROTTLES, "email": _SILENT}
_PER_SECOND: Final = 10
_FAULTS: Final = (
    ("broker", Deed.KILL, 0.0),
    ("sms", Deed.STEER, 30.0),
    ("state", Deed.KILL, 0.0),
    ("broker", Deed.STAY_DEAD, 20.0),
    ("postgres", Deed.KILL, 0.0),
    ("email", Deed.STEER, 20.0),
    ("state", Deed.STAY_DEAD, 20.0),
    ("broker", Deed.FLUSH, 0.0),
    ("transactional", Deed.FREEZE, 5.0),
    ("postgres", Deed.STAY_DEAD, 10.0),
    ("channels", Deed.FREEZE, 5.0),
    ("push", Deed.STEER, 20.0),
    ("p0-2", Deed.KILL, 0.0),
)
"""Faults with their seconds; of the product's processes, the twin of `p0` alone is ended."""


def steady_hours(seed: int) -> Plan:
    """Two hours of ten messages a second and a fault a minute: does a process grow?"""
    minutes = 120
    return Plan(
        name=f"{minutes} minutes of {_PER_SECOND} messages a second, a fault a minute",
        seed=seed,
        posts=Tokens(seed).trickle(_PER_SECOND, minutes * _MINUTE, Priority),
        actions=list(_faults(minutes)),
        beside=("flower", "live", "expand"),
        drain_seconds=600.0,
    )


def _faults(minutes: int) -> Iterator[Action]:
    for minute in range(1, minutes):
        target, deed, seconds = _FAULTS[minute % len(_FAULTS)]
        at = minute * _MINUTE
        if deed is not Deed.STEER:
            yield Action(at=at, deed=deed, target=target, seconds=seconds)
            continue
        yield Action(at=at, deed=deed, target=target, manner=_MANNERS[target])
        yield Action(at=at + seconds, deed=deed, target=target, manner=WELL)


def flapping(seed: int) -> Plan:
    """Each provider is away for 40 s, then well for 40 s; there are five messages a minute."""
    minutes = 12
    turns = int(minutes * _MINUTE / 40)
    return Plan(
        name=f"providers away for 40 s, well for 40 s, {minutes} minutes of 5 messages a minute",
        seed=seed,
        posts=Tokens(seed).trickle(5 / 60, minutes * _MINUTE, [Priority.P0, Priority.P2]),
        actions=[
            Action(
                at=40.0 * turn,
                deed=Deed.STEER,
                target=channel.label,
                manner=WELL if turn % 2 else _AWAY,
            )
            for turn in range(turns + turns % 2)
            for channel in CHANNELS
        ],
        drain_seconds=300.0,
    )


LONG_RUNS: Final[Mapping[str, Callable[[int], Plan]]] = MappingProxyType({
    run.__name__: run for run in (steady_hours, flapping, outage_15_minutes)
})
