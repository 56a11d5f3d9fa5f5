"""Send admission: breaker check and reserved send times for the deliveries of a batch.

One Lua call serves a batch: it checks the breaker of every provider or endpoint, and reserves a
slot in the token bucket for every delivery. A provider without a stated rate has no bucket until
the provider throttles; a rate set by an operator wins. While Redis is away every delivery is
admitted at once.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast
from uuid import UUID

import orjson

from notifications.core.rules.lane import PACE, Priority
from notifications.core.rules.rate_limits import token_bucket
from notifications.core.rules.rate_limits.circuit_breaker import (
    ENDPOINT_CALLS,
    FIRST_URGENT_PROBE,
    LAST_PROBE_YIELDS_FOR,
    LOOKS_PER_SECOND,
    PROBE_ANSWERS_WITHIN,
    PROBE_EVERY,
    URGENT_PROBE_EVERY,
    BreakerOverride,
    BreakerState,
    HealthKey,
)
from notifications.core.store.cached import provider_overrides
from notifications.core.store.cached.provider_overrides import ProviderOverrides
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.rate_limits.circuit_breakers import AT_ONCE, MILLISECOND
from notifications.core.store.redis import state
from providers.contract import Pace

_MICROSECOND: Final = dt.timedelta(microseconds=1)
_SECOND_US: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRequest:
    """Deliveries of a priority through a provider or endpoint."""

    key: HealthKey
    priority: Priority
    count: int
    """Deliveries without a slot."""
    pace: Pace | None
    """The rate limit stated by the adapter."""
    with_slot: int = 0
    """Further deliveries, which have a slot already."""
    candidates: Sequence[UUID] = ()
    """Up to two deliveries; one of the candidates may become the probe."""
    is_alone: bool = True
    """True if the candidates have no other provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The result for one `AdmissionRequest`."""

    state: BreakerState
    wait: dt.timedelta
    """If the breaker is open: time until the next check. For a probe: time until the answer is due.
    """
    room: int
    """If the breaker is closed: calls that the endpoint may get."""
    slots: Sequence[dt.timedelta] | None
    """Time until the slot of each delivery, in order; None: no limit, send all now."""
    probe: UUID | None = None
    """The delivery that becomes the probe; without a new probe, the last probe."""
    next_slot: dt.timedelta = dt.timedelta(0)
    """Delay until the first slot that did not fit."""
    spacing: dt.timedelta = dt.timedelta(0)
    """Interval between later slots."""


def check(wanted: Sequence[AdmissionRequest]) -> list[Admission]:
    """Return an admission for each request; reserves the slots and the probe."""
    try:
        return _check_in_redis(wanted, provider_overrides.current())
    except state.Away:
        all_now = Admission(state=BreakerState.CLOSED, wait=dt.timedelta(0), room=0, slots=None)
        return [replace(all_now, room=each.count) for each in wanted]


def _check_in_redis(wanted: Sequence[AdmissionRequest], now: ProviderOverrides) -> list[Admission]:
    return [
        answer
        for start in range(0, len(wanted), AT_ONCE)
        for answer in _run_script(wanted[start : start + AT_ONCE], now)
    ]


def _run_script(wanted: Sequence[AdmissionRequest], now: ProviderOverrides) -> list[Admission]:
    keys: list[str] = []
    arguments: list[str | int | float | bytes] = [SHARED]
    for each in wanted:
        heeds_breaker = now.forced.get(each.key.pair) is not BreakerOverride.CLOSED
        breaker = circuit_breakers.key(each.key) if heeds_breaker else ""
        keys += [
            breaker,
            circuit_breakers.bucket_key(each.key),
            circuit_breakers.pace_key(each.key),
        ]
        arguments += _arguments(each, now.paces.get(each.key.provider, each.pace), breaker)
    found = cast("list[_LuaResult]", state.call("depart", keys, arguments))
    return [_admission(each, *one) for each, one in zip(wanted, found, strict=True)]


_LuaResult = tuple[int, int, int, int | bytes, int, int, list[int]]

SHARED: Final = orjson.dumps({
    "answers_within": PROBE_ANSWERS_WITHIN // MILLISECOND,
    "call_takes": PACE[Priority.P1].deadline // MILLISECOND,
    "endpoint_calls": ENDPOINT_CALLS,
    "first_urgent": FIRST_URGENT_PROBE // MILLISECOND,
    "looks": LOOKS_PER_SECOND,
    "probe_every": PROBE_EVERY // MILLISECOND,
    "recover": token_bucket.RECOVERS_IN // MILLISECOND,
    "share": token_bucket.PATIENT_SHARE,
    "urgent_every": URGENT_PROBE_EVERY // MILLISECOND,
    "yields_for": LAST_PROBE_YIELDS_FOR // MILLISECOND,
})
"""Numbers common to all requests, read by `depart.lua`."""


def _arguments(
    wanted: AdmissionRequest, pace: Pace | None, breaker: str
) -> list[str | int | float | bytes]:
    first, second, *_ = *(each.hex for each in wanted.candidates), "", ""
    return [
        wanted.count,
        wanted.count + wanted.with_slot,
        int(wanted.priority.is_urgent),
        token_bucket.AHEAD[wanted.priority] // _MICROSECOND,
        _SECOND_US / pace.per_second if pace else 0,
        pace.burst if pace else 0,
        first,
        second,
        int(wanted.is_alone),
        int(bool(wanted.key.endpoint and breaker)),
    ]


def _admission(  # noqa: PLR0913, PLR0917 - Lua's answer, field by field
    asked: AdmissionRequest,
    breaker_state: int,
    wait_ms: int,
    room: int,
    which: int | bytes,
    next_us: int,
    spacing_us: int,
    given_us: Sequence[int],
) -> Admission:
    probe: UUID | None = None
    if isinstance(which, int):
        circuit_breakers.record_probe(asked.key)
        probe = asked.candidates[which - 1]
    elif which:
        probe = UUID(hex=which.decode())
    is_free = breaker_state == BreakerState.CLOSED and not spacing_us
    return Admission(
        state=BreakerState(breaker_state),
        wait=wait_ms * MILLISECOND,
        room=room,
        slots=None if is_free else [each * _MICROSECOND for each in given_us],
        probe=probe,
        next_slot=next_us * _MICROSECOND,
        spacing=spacing_us * _MICROSECOND,
    )
