"""Resume: after a breaker closed, release P0 and P1 held by the breaker, in bounded numbers.

While a breaker is open, only a bounded number of its rows is tried again
(`rules.rate_limits.circuit_breaker`); other rows wait up to their time to live. The process that
closes a breaker notes the breaker in the state Redis, and so does an operator's override. If Redis
loses the note, the rows come due later.

A worker can store a hold some seconds after the close, from an admission before the close. So the
rows of a closed breaker are released once more after the longest lease of P0 and P1.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final, cast
from uuid import UUID

from notifications.core import clock
from notifications.core.delivery import routing
from notifications.core.rules.lane import PACE, Mode, Priority
from notifications.core.rules.rate_limits.circuit_breaker import HealthKey
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.cached import provider_overrides
from notifications.core.store.cached.provider_overrides import Pair
from notifications.core.store.postgres import db, id_ranges
from notifications.core.store.postgres.id_ranges import Span
from notifications.core.store.rate_limits import breaker_status, circuit_breakers
from notifications.core.store.redis import state
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept
from providers.contract import Channel

_URGENT: Final = [each for each in Priority if each.is_urgent]
_PAGE: Final = 5_000
"""Rows read in each query."""
_FIRST_ID: Final = UUID(int=0)
_AGAIN_AFTER: Final = max(PACE[each].lease for each in _URGENT)
"""Time after a release in which a worker can still store a hold of the breaker."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Release up to `limit` rows by priority, day and provider of closed breakers.

    Safe to run twice or late: a row is released once, and admission checks it again.
    """
    by_pair: dict[Pair, set[str]] = defaultdict(set)
    try:
        for name in _notes(now):
            key = circuit_breakers.health_of(name.decode())
            by_pair[key.pair].add(key.endpoint)
        if by_pair:
            # an operator's override may be newer than the cache
            provider_overrides.forget()
        return Swept(sum(_resume(pair, names, now, limit) for pair, names in by_pair.items()))
    except state.Away:
        return Swept()


def _notes(now: dt.datetime) -> set[bytes]:
    """Return the keys of closed breakers whose rows wait for a release, the first or the second."""
    settled = (now - _AGAIN_AFTER).timestamp()
    with state.connection() as redis:
        closed = cast("set[bytes]", redis.smembers(circuit_breakers.CLOSED))
        released = redis.zrangebyscore(circuit_breakers.RELEASED, "-inf", settled)
        return closed.union(cast("list[bytes]", released))


def _resume(pair: Pair, endpoints: Collection[str], now: dt.datetime, limit: int) -> int:
    """Release the rows held by these endpoints; the empty name is the provider itself."""
    standing = breaker_status.of(HealthKey(*pair, each) for each in endpoints)
    closed = {key.endpoint for key, each in standing.items() if each.is_known and not each.is_open}
    moved, is_all = 0, True
    for span in id_ranges.current() if closed else ():
        if "" in closed:
            count = _release(pair[1], span, limit=limit)
        else:
            count = _release_of_endpoints(pair, closed, span, limit=limit)
        moved += count
        is_all = is_all and count < limit
    if is_all:
        _note_released([circuit_breakers.key(key) for key in standing], now)
    return moved


def _note_released(names: Sequence[str], now: dt.datetime) -> None:
    """Note the second release after the first one, and delete the note after the second."""
    with state.connection() as redis, redis.pipeline() as together:
        for name in names:
            if redis.sismember(circuit_breakers.CLOSED, name):
                together.zadd(circuit_breakers.RELEASED, {name: now.timestamp()})
                together.srem(circuit_breakers.CLOSED, name)
            else:
                together.zrem(circuit_breakers.RELEASED, name)
        together.execute()


def _release(channel: Channel, span: Span, *, limit: int) -> int:
    parameters = {
        **_hold_parameters(channel, span),
        "priorities": _URGENT,
        "reasons": [Reason.BREAKER, Reason.ENDPOINT],
        "limit": limit,
    }
    return len(db.fetch_in_own_transaction("resume", parameters))


def _release_of_endpoints(pair: Pair, endpoints: Collection[str], span: Span, *, limit: int) -> int:
    """Release rows with an address of these endpoints."""
    provider = routing.provider_named(pair[0])
    name_of = provider.capabilities.endpoint_of if provider else None
    if name_of is None:
        return 0
    moved = 0
    for priority in _URGENT:
        after, after_id = clock.now(), _FIRST_ID
        while moved < limit:
            parameters = {
                **_hold_parameters(pair[1], span),
                "priority": priority,
                "reason": Reason.ENDPOINT,
                "reasons": [Reason.ENDPOINT],
                "after": after,
                "after_id": after_id,
                "page": _PAGE,
            }
            page = db.rows("held_by_endpoints", parameters)
            theirs = [row["id"] for row in page if name_of(row["address"]) in endpoints]
            moved += (
                len(db.fetch_in_own_transaction("end_holds", {**parameters, "ids": theirs}))
                if theirs
                else 0
            )
            if len(page) < _PAGE:
                break
            after, after_id = page[-1]["due_at"], page[-1]["id"]
    return moved


def _hold_parameters(channel: Channel, span: Span) -> dict[str, object]:
    return {
        **span,
        "channel": channel,
        "scheduled": Status.SCHEDULED,
        "live": Mode.LIVE,
        "grace": rounds.retry_grace(),
    }
