"""Accept: a producer's request becomes durable rows, or a clear refusal.

The promise of a 202: notification, deliveries, first events and the idempotency key are committed
together. What comes after (publishing) may fail without losing anything, because each delivery is
due by itself.

Batches are the normal case and one request is a list of one. Nothing here depends on the state
Redis for being right: the Bloom filter only tells when the exact check of idempotency keys can be
skipped, and the unique index catches it when it was wrong.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import IntegrityError, OperationalError, transaction

from notifications import clock
from notifications.models import Rejected
from notifications.pipeline import keys, publish
from notifications.pipeline.check import Caller
from notifications.pipeline.keys import WholeKey
from notifications.pipeline.plan import Plan, planned
from notifications.rules.lane import Mode
from notifications.rules.problems import Kind, Problem
from notifications.rules.redaction import redacted
from notifications.rules.request import NotificationRequest
from notifications.rules.states import Status
from notifications.store import inserts, ordering, partitions, tallies

__all__ = ["Caller", "Refused", "Taken", "WholeAnswer", "accept", "accept_once", "reject"]

_IN_PROGRESS = Problem(
    Kind.IN_PROGRESS,
    "a request with the same idempotency key is still running; ask again in a second",
    retry_after=dt.timedelta(seconds=1),
)
_KEY_REUSED = Problem(
    Kind.KEY_REUSED,
    "this idempotency key was used in the last 24 hours with another body; use a new key",
)


@dataclass(frozen=True, slots=True)
class Taken:
    """Accepted, now or before."""

    response: dict[str, Any]
    replayed: bool
    """The answer of an earlier request with this key; nothing was stored."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Not accepted; nothing of it was stored."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """The answer to a batch whose key covers the whole call."""

    results: list[Taken | Refused]
    replayed: bool


class _Locked(Exception):
    """Another request with one of the keys is still running."""


def accept(
    caller: Caller, asked: Sequence[NotificationRequest], *, traceparent: str = ""
) -> list[Taken | Refused]:
    """Accept a list of requests; one answer each, in order. One that is refused harms no other.

    Raises:
        django.db.Error: nothing could be stored, and nothing was.
    """
    plans = planned(caller, asked, traceparent=traceparent)
    try:
        won = _store(caller, plans)
    except _Locked:
        return [Refused(_IN_PROGRESS)] * len(plans)
    _log_refusals(caller, asked, plans)
    return [_answer(plan, won) for plan in plans]


def accept_once(
    caller: Caller,
    key: str,
    body_hash: bytes,
    asked: Sequence[NotificationRequest | Problem],
    *,
    traceparent: str = "",
) -> WholeAnswer | Problem:
    """Accept a batch under one key for the whole call.

    Args:
        caller: who asks.
        key: the key of the call.
        body_hash: of the canonical body, 16 bytes.
        asked: what was understood of each item, in order.
        traceparent: W3C trace context of the call.
    """
    plans = planned(caller, asked, traceparent=traceparent)
    whole = WholeKey(key=key, body_hash=body_hash, response=[_kept(plan) for plan in plans])
    try:
        _store(caller, plans, whole=whole)
    except _Locked:
        return _IN_PROGRESS
    except keys.Answered as earlier:
        if earlier.body_hash != body_hash:
            return _KEY_REUSED
        return WholeAnswer([_revived(result) for result in earlier.response], replayed=True)
    _log_refusals(caller, asked, plans)
    return WholeAnswer([_answer(plan, keys.Won(fresh=[])) for plan in plans], replayed=False)


def reject(caller: Caller, body: object, problem: Problem) -> None:
    """Note a refused request for operators: who, what was wrong and where, never the values."""
    fields = body if isinstance(body, dict) else {}
    _rejected(caller, fields.get("user_id"), fields.get("type"), problem).save()


def _store(
    caller: Caller, plans: Sequence[Plan | Problem], *, whole: WholeKey | None = None
) -> keys.Won:
    """Store what is new in one transaction, then publish what is urgent.

    Raises:
        _Locked: another request with one of the keys is still running.
        IntegrityError: a day that retention has dropped; the clock is wrong.
        OperationalError: the database is away.
    """
    good = [plan for plan in plans if isinstance(plan, Plan)]
    if not good and whole is None:
        return keys.Won(fresh=[])
    now = clock.now()
    is_new = whole is None and keys.surely_new(caller, good, now=now)
    try:
        won = partitions.with_day(
            now.date(), lambda: _commit(caller, good, whole, is_new=is_new, now=now)
        )
    except IntegrityError as error:
        if not is_new or not isinstance(error.__cause__, psycopg.errors.UniqueViolation):
            raise
        # The filter was wiped, and one of the keys was not new.
        won = _commit(caller, good, whole, is_new=False, now=now)
    except OperationalError as error:
        if isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
            raise _Locked from error
        raise
    born = [delivery for plan in won.fresh for delivery in plan.deliveries]
    publish.at_once(born)
    if caller.mode is Mode.LIVE:
        stopped = (each.reason for each in born if each.status == Status.SUPPRESSED)
        tallies.count_moves(Status.SUPPRESSED, stopped)
    return won


def _commit(
    caller: Caller,
    plans: Sequence[Plan],
    whole: WholeKey | None,
    *,
    is_new: bool,
    now: dt.datetime,
) -> keys.Won:
    with transaction.atomic():
        if whole is not None:
            keys.win_whole(caller, whole)
            won = keys.Won(fresh=list(plans))
        else:
            won = keys.win(caller, plans, surely_new=is_new, now=now)
        if won.fresh:
            inserts.deliveries(
                [delivery for plan in won.fresh for delivery in plan.deliveries],
                notification_ids=[plan.id for plan in won.fresh for _ in plan.deliveries],
                now=now,
                notifications=[plan.row for plan in won.fresh],
            )
            _join_lines(won.fresh)
    return won


def _join_lines(plans: Sequence[Plan]) -> None:
    """Who may leave now joins its line. A schedule joins when it is released."""
    places = [
        (plan.ordering_key, delivery.channel, delivery.id)
        for plan in plans
        if plan.ordering_key is not None
        for delivery in plan.deliveries
        if delivery.status == Status.QUEUED
    ]
    if places:
        ordering.join(places)


def _answer(plan: Plan | Problem, won: keys.Won) -> Taken | Refused:
    if isinstance(plan, Problem):
        return Refused(plan)
    earlier = won.earlier.get(plan.id)
    if earlier is None:
        return Taken(plan.response, replayed=False)
    if earlier.body_hash != plan.body_hash:
        return Refused(_KEY_REUSED)
    return Taken(earlier.response, replayed=True)


def _kept(plan: Plan | Problem) -> dict[str, Any]:
    """One result of a whole call, as it is kept for its repeats."""
    if isinstance(plan, Plan):
        return {"taken": plan.response}
    errors = [[error.pointer, error.detail] for error in plan.errors]
    return {"refused": {"kind": plan.kind.value, "detail": plan.detail, "errors": errors}}


def _revived(kept: dict[str, Any]) -> Taken | Refused:
    if "taken" in kept:
        return Taken(kept["taken"], replayed=True)
    return Refused(Problem.revived(kept.get("refused", {})))


def _log_refusals(
    caller: Caller,
    asked: Sequence[NotificationRequest | Problem],
    plans: Sequence[Plan | Problem],
) -> None:
    """Note what was refused here; what came in as a problem was noted where it was found."""
    Rejected.objects.bulk_create(
        _rejected(caller, request.user_id, request.type, plan)
        for request, plan in zip(asked, plans, strict=True)
        if isinstance(request, NotificationRequest) and isinstance(plan, Problem)
    )


def _rejected(caller: Caller, user_id: object, type_: object, problem: Problem) -> Rejected:
    return Rejected(
        producer_id=caller.producer_id,
        user_id=_word(user_id, 128),
        type=_word(type_, 64),
        problem=problem.kind.value,
        detail=redacted(problem.detail),
        pointers=[error.pointer[:200] for error in problem.errors[:20]],
    )


def _word(value: object, length: int) -> str:
    text = value if isinstance(value, str) else ""
    # Postgres stores no NUL, and a lone surrogate is no text.
    return text.replace("\x00", "").encode(errors="ignore").decode()[:length]
