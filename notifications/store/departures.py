"""Departures: may these deliveries leave through these providers now, and when?

One Lua call answers for a whole batch: each provider's breaker, and a slot in its bucket for each
delivery. A provider that states no pace has no bucket; what an operator has set in admin wins. With
neither bucket nor trouble the answer is "all, now" and costs one GET in Redis.

While Redis is away each process has breakers and buckets of its own, the latter a tenth of the
pace: sends go on, a little slower, and the vendor's limit holds for ten processes.
"""

from __future__ import annotations

import datetime as dt
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from notifications import clock
from notifications.rules import breaker as rules
from notifications.rules import bucket
from notifications.rules.breaker import Door, Forced
from notifications.rules.lane import Priority
from notifications.store import breakers, controls, state
from notifications.store.breakers import MILLISECOND
from notifications.store.controls import Controls, Pair
from providers.contract import Pace

_MICROSECOND: Final = dt.timedelta(microseconds=1)
_SECOND_US: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """So many deliveries of one priority, through one provider."""

    pair: Pair
    priority: Priority
    count: int
    pace: Pace | None
    """What its adapter says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What they are told."""

    door: Door
    wait: dt.timedelta
    """When to ask again, where the breaker is open; for a probe: when its answer will be there."""
    slots: Sequence[dt.timedelta] | None
    """How far away the slot of each is, in order, as many as were given one; None: all may, now."""
    next_slot: dt.timedelta = dt.timedelta(0)
    """How far away the first slot is that was not given ..."""
    spacing: dt.timedelta = dt.timedelta(0)
    """... and how far apart those after it will be."""


def ask(wanted: Sequence[Wanted]) -> list[Answer]:
    """One answer for each; reserves the slots that it gives, and the probe that it allows."""
    now = controls.current()
    shut = [now.forced.get(each.pair) is Forced.OPEN for each in wanted]
    asks = [_Ask.of(each, now) for each, is_shut in zip(wanted, shut, strict=True) if not is_shut]
    try:
        answers = iter(_ask_redis(asks)) if asks else iter(())
    except state.Away:
        answers = iter([_ask_locally(each) for each in asks])
    return [_SHUT if is_shut else next(answers) for is_shut in shut]


_SHUT: Final = Answer(door=Door.OPEN, wait=rules.PROBE_EVERY, slots=())
"""Forced open: there is no next probe, so its time is as good as any to look again."""


@dataclass(frozen=True, slots=True)
class _Ask:
    """A question with what operators have set."""

    pair: Pair
    priority: Priority
    count: int
    pace: Pace | None
    heeds_breaker: bool

    @classmethod
    def of(cls, wanted: Wanted, now: Controls) -> _Ask:
        pace = now.paces.get(wanted.pair[0], wanted.pace)
        heeds = now.forced.get(wanted.pair) is not Forced.CLOSED
        return cls(wanted.pair, wanted.priority, wanted.count, pace, heeds)

    @property
    def cost_us(self) -> float:
        """Microseconds that one call costs."""
        return _SECOND_US / self.pace.per_second if self.pace else 0

    @property
    def spacing(self) -> dt.timedelta:
        """Between two slots of this priority, once the burst is used up."""
        share = 1 if self.priority.is_urgent else bucket.PATIENT_SHARE
        return self.cost_us / share * _MICROSECOND


def _ask_redis(asks: Sequence[_Ask]) -> list[Answer]:
    keys, arguments = [], _SHARED[:]
    for each in asks:
        # A breaker that no one is to heed is one that is not there.
        keys += [breakers.key(each.pair) if each.heeds_breaker else "", f"bucket:{each.pair[0]}"]
        arguments += [
            each.count,
            int(each.priority.is_urgent),
            bucket.AHEAD[each.priority] // _MICROSECOND,
            each.cost_us,
            each.pace.burst if each.pace else 0,
        ]
    found = cast("list[tuple[int, int, int, list[int]]]", state.call("depart", keys, arguments))
    return [_answer(each, *one) for each, one in zip(asks, found, strict=True)]


_SHARED: Final[list[str | int | float | bytes]] = [
    rules.PROBE_EVERY // MILLISECOND,
    rules.PROBE_ANSWERS_WITHIN // MILLISECOND,
    bucket.PATIENT_SHARE,
]


def _answer(asked: _Ask, door: int, wait_ms: int, next_us: int, given_us: Sequence[int]) -> Answer:
    if door == Door.PROBE:
        breakers.note_probe(asked.pair)
    is_free = door == Door.CLOSED and asked.pace is None
    return Answer(
        door=Door(door),
        wait=wait_ms * MILLISECOND,
        slots=None if is_free else [each * _MICROSECOND for each in given_us],
        next_slot=next_us * _MICROSECOND,
        spacing=asked.spacing,
    )


_paid_at: dict[str, float] = {}
"""This process's own buckets while Redis is away: when all that was granted will be paid for."""
_lock = threading.Lock()


def forget() -> None:
    """Empty this process's own buckets."""
    _paid_at.clear()


def _ask_locally(asked: _Ask) -> Answer:
    door, wait_ms = breakers.ask_locally(asked.pair) if asked.heeds_breaker else (Door.CLOSED, 0)
    if door is not Door.CLOSED or asked.pace is None:
        return _answer(asked, door, wait_ms, 0, ())
    cost = asked.cost_us / bucket.ALONE
    room = max(cost, asked.pace.burst * asked.cost_us)
    ahead = bucket.AHEAD[asked.priority] / _MICROSECOND
    given: list[int] = []
    with _lock:
        now = clock.monotonic() * _SECOND_US
        paid = max(_paid_at.get(asked.pair[0], now), now)
        while (slot := max(0.0, paid + cost - room - now)) <= ahead and len(given) < asked.count:
            given.append(math.ceil(slot))
            paid += cost
        _paid_at[asked.pair[0]] = paid
    answer = _answer(asked, door, 0, math.ceil(slot), given)
    return replace(answer, spacing=cost * _MICROSECOND)
