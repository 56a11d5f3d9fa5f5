"""Departures: may these deliveries leave through these providers now, and when?

One Lua call answers for a whole batch: the breaker of each provider (or endpoint), and a slot in
its bucket for each delivery. A provider that states no pace has no bucket until it throttles; what
an operator has set in admin wins. With neither bucket nor trouble the answer is "all, now".

While Redis is away everything may leave at once: for as long as that lasts, a provider that is down
costs attempts, and a vendor's limit is kept by its own refusals.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast
from uuid import UUID

import orjson

from notifications.rules import breaker as rules
from notifications.rules import bucket
from notifications.rules.breaker import Door, Forced, HealthKey
from notifications.rules.lane import PACE, Priority
from notifications.store import breakers, controls, state
from notifications.store.breakers import MILLISECOND
from notifications.store.controls import Controls
from providers.contract import Pace

_MICROSECOND: Final = dt.timedelta(microseconds=1)
_SECOND_US: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Deliveries of one priority, through one provider or endpoint."""

    key: HealthKey
    priority: Priority
    count: int
    """How many want a slot."""
    pace: Pace | None
    """What its adapter says."""
    with_slot: int = 0
    """How many more there are, which have a slot already."""
    candidates: Sequence[UUID] = ()
    """Up to two deliveries of which one may be the probe."""
    is_alone: bool = True
    """Whether the candidates have no other provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What they are told."""

    door: Door
    wait: dt.timedelta
    """When to ask again, where the breaker is open; for a probe: when its answer will be there."""
    room: int
    """How many the endpoint may be given, where the breaker is closed."""
    slots: Sequence[dt.timedelta] | None
    """How far away the slot of each is, in order, as many as were given one; None: all may, now."""
    probe: UUID | None = None
    """The delivery that goes as the probe, or where none may go now: the last that did."""
    next_slot: dt.timedelta = dt.timedelta(0)
    """How far away the first slot is that was not given ..."""
    spacing: dt.timedelta = dt.timedelta(0)
    """... and how far apart those after it will be."""


def ask(wanted: Sequence[Wanted]) -> list[Answer]:
    """One answer for each; reserves the slots that it gives, and the probe that it allows."""
    now = controls.current()
    shut = [now.forced.get(each.key.pair) is Forced.OPEN for each in wanted]
    asks = [each for each, is_shut in zip(wanted, shut, strict=True) if not is_shut]
    try:
        answers = iter(_ask_redis(asks, now))
    except state.Away:
        answers = iter([_all_now(each) for each in asks])
    return [_SHUT if is_shut else next(answers) for is_shut in shut]


_SHUT: Final = Answer(door=Door.OPEN, wait=rules.PROBE_EVERY, room=0, slots=())
"""Forced open: there is no next probe, so its time is as good as any to look again."""


def _all_now(wanted: Wanted) -> Answer:
    return Answer(door=Door.CLOSED, wait=dt.timedelta(0), room=wanted.count, slots=None)


_AT_ONCE: Final = 100
"""Endpoints of one Lua call: some ten milliseconds, in which Redis serves nobody else."""


def _ask_redis(wanted: Sequence[Wanted], now: Controls) -> list[Answer]:
    return [
        answer
        for start in range(0, len(wanted), _AT_ONCE)
        for answer in _asked(wanted[start : start + _AT_ONCE], now)
    ]


def _asked(wanted: Sequence[Wanted], now: Controls) -> list[Answer]:
    keys: list[str] = []
    arguments: list[str | int | float | bytes] = [SHARED]
    for each in wanted:
        heeds_breaker = now.forced.get(each.key.pair) is not Forced.CLOSED
        breaker = breakers.key(each.key) if heeds_breaker else ""
        keys += [breaker, breakers.bucket_key(each.key), breakers.pace_key(each.key)]
        arguments += _arguments(each, now.paces.get(each.key.provider, each.pace), breaker)
    found = cast("list[_Told]", state.call("depart", keys, arguments))
    return [_answer(each, *one) for each, one in zip(wanted, found, strict=True)]


_Told = tuple[int, int, int, int | bytes, int, int, list[int]]

SHARED: Final = orjson.dumps({
    "answers_within": rules.PROBE_ANSWERS_WITHIN // MILLISECOND,
    "call_takes": PACE[Priority.P1].deadline // MILLISECOND,
    "endpoint_calls": rules.ENDPOINT_CALLS,
    "first_urgent": rules.FIRST_URGENT_PROBE // MILLISECOND,
    "looks": rules.LOOKS_PER_SECOND,
    "probe_every": rules.PROBE_EVERY // MILLISECOND,
    "recover": bucket.RECOVERS_IN // MILLISECOND,
    "share": bucket.PATIENT_SHARE,
    "urgent_every": rules.URGENT_PROBE_EVERY // MILLISECOND,
    "yields_for": rules.LAST_PROBE_YIELDS_FOR // MILLISECOND,
})
"""The numbers that all questions share, as `depart.lua` reads them."""


def _arguments(wanted: Wanted, pace: Pace | None, breaker: str) -> list[str | int | float | bytes]:
    first, second, *_ = *(each.hex for each in wanted.candidates), "", ""
    return [
        wanted.count,
        wanted.count + wanted.with_slot,
        int(wanted.priority.is_urgent),
        bucket.AHEAD[wanted.priority] // _MICROSECOND,
        _SECOND_US / pace.per_second if pace else 0,
        pace.burst if pace else 0,
        first,
        second,
        int(wanted.is_alone),
        int(bool(wanted.key.endpoint and breaker)),
    ]


def _answer(  # noqa: PLR0913, PLR0917 - Lua's answer, field by field
    asked: Wanted,
    door: int,
    wait_ms: int,
    room: int,
    which: int | bytes,
    next_us: int,
    spacing_us: int,
    given_us: Sequence[int],
) -> Answer:
    probe: UUID | None = None
    if isinstance(which, int):
        breakers.note_probe(asked.key)
        probe = asked.candidates[which - 1]
    elif which:
        probe = UUID(hex=which.decode())
    is_free = door == Door.CLOSED and not spacing_us
    return Answer(
        door=Door(door),
        wait=wait_ms * MILLISECOND,
        room=room,
        slots=None if is_free else [each * _MICROSECOND for each in given_us],
        probe=probe,
        next_slot=next_us * _MICROSECOND,
        spacing=spacing_us * _MICROSECOND,
    )
