"""Idempotency keys of what is being accepted: which are new, and what was answered to the others.

A key is won inside the transaction that stores what it asks for. Keys that are surely new (the
Bloom filter says so) are copied in without asking; the unique index catches the filter's mistakes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from notifications.pipeline.check import Caller
from notifications.pipeline.plan import Plan
from notifications.store import bloom, idempotency

_WORTH_ASKING: Final = 10
"""Keys in one list."""


@dataclass(slots=True, kw_only=True)
class Won:
    """Which plans are to be stored, and the first answers to the others."""

    fresh: list[Plan]
    earlier: dict[UUID, idempotency.Entry] = field(default_factory=dict)
    """By the plan's own id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeKey:
    """The idempotency key of a whole call, and the answer to keep for it."""

    key: str
    body_hash: bytes
    response: Any


class Answered(Exception):
    """The whole call was answered before: give that answer if the body is the same."""

    def __init__(self, earlier: idempotency.Entry) -> None:
        super().__init__(earlier.key)
        self.body_hash = earlier.body_hash
        self.response = earlier.response


def surely_new(caller: Caller, plans: Sequence[Plan], *, now: dt.datetime) -> bool:
    """Whether no key of these can have been used; notes them as used.

    A few are not worth the question: the exact check takes them in one round trip.
    """
    keys = [plan.key for plan in plans if plan.key]
    if len(keys) < _WORTH_ASKING or len(set(keys)) < len(keys):
        return False
    scope = f"{caller.producer_id}.{caller.mode.value}"
    return bloom.all_surely_new(scope, keys, today=now.date())


def win(caller: Caller, plans: Sequence[Plan], *, surely_new: bool, now: dt.datetime) -> Won:
    """Store the keys of these plans, in the caller's transaction.

    Raises:
        django.db.IntegrityError: `surely_new` was wrong; the transaction is broken.
        django.db.OperationalError: another request with one of the keys is still running.
    """
    first: dict[str, Plan] = {}
    for plan in plans:
        if plan.key:
            first.setdefault(plan.key, plan)
    entries = [_entry(plan) for plan in first.values()]
    if not entries:
        return Won(fresh=list(plans))
    if surely_new:
        idempotency.copy(caller.producer_id, caller.mode, entries, now=now)
        return Won(fresh=list(plans))
    won = idempotency.claim(caller.producer_id, caller.mode, entries)
    lost = [key for key in first if key not in won]
    # A key that stands twice in one batch: its first item is the earlier answer of its second.
    answered = {entry.key: entry for entry in entries}
    if lost:
        answered |= idempotency.first_answers(caller.producer_id, caller.mode, lost)
    result = Won(fresh=[])
    for plan in plans:
        if not plan.key or (plan.key in won and first[plan.key] is plan):
            result.fresh.append(plan)
        else:
            result.earlier[plan.id] = answered[plan.key]
    return result


def win_whole(caller: Caller, whole: WholeKey) -> None:
    """Store the key of a whole call, in the caller's transaction.

    Raises:
        Answered: it was used before.
        django.db.OperationalError: a call with it is still running.
    """
    entry = idempotency.Entry(key=whole.key, body_hash=whole.body_hash, response=whole.response)
    if idempotency.claim(caller.producer_id, caller.mode, [entry]):
        return
    earlier = idempotency.first_answers(caller.producer_id, caller.mode, [whole.key])
    raise Answered(earlier[whole.key])


def _entry(plan: Plan) -> idempotency.Entry:
    return idempotency.Entry(key=plan.key, body_hash=plan.body_hash, response=plan.response)
