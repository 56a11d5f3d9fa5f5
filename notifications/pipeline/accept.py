"""Accept: a producer's request becomes durable rows, or a clear refusal.

The promise of a 202: notification, deliveries, first events and the idempotency key are committed together. What
comes after (publishing) may fail without losing anything, because each delivery is due by itself.

Batches are the normal case and one request is a list of one. Nothing here depends on the state Redis for being right: the
Bloom filter only tells when the exact check of idempotency keys can be skipped, and the unique index catches it when it
was wrong.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import IntegrityError, OperationalError, transaction

from notifications import clock
from notifications.models import Rejected
from notifications.pipeline import publish
from notifications.pipeline.plan import Caller, Plan, planned
from notifications.rules.problems import Kind, Problem
from notifications.rules.redaction import redacted
from notifications.rules.request import NotificationRequest
from notifications.store import bloom, idempotency, inserts, partitions

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


@dataclass(frozen=True, slots=True)
class _WholeKey:
    """The idempotency key of a whole call."""

    key: str
    body_hash: bytes


class _KeySeen(Exception):
    """The whole call was answered before, or is being answered now."""


def accept(
    caller: Caller, asked: Sequence[NotificationRequest], *, traceparent: str = ""
) -> list[Taken | Refused]:
    """Accept a list of requests; one answer each, in order. One that is refused harms no other.

    Raises:
        django.db.Error: nothing could be stored, and nothing was.
    """
    plans = planned(caller, asked, traceparent=traceparent)
    return _store(caller, plans, whole=None)


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
    try:
        return WholeAnswer(_store(caller, plans, whole=_WholeKey(key, body_hash)), replayed=False)
    except _KeySeen:
        earlier = idempotency.first_answers(caller.producer_id, caller.mode, [key]).get(key)
    if earlier is None:
        return _IN_PROGRESS
    if earlier.body_hash != body_hash:
        return _KEY_REUSED
    return WholeAnswer([_revived(result) for result in earlier.response], replayed=True)


def reject(caller: Caller, body: object, problem: Problem) -> None:
    """Keep a refused request in the operators' log: who, what was wrong and where, never the values."""
    fields = body if isinstance(body, dict) else {}
    _log_rejections(caller, [(fields, problem)])


def _store(
    caller: Caller, plans: Sequence[Plan | Problem], *, whole: _WholeKey | None
) -> list[Taken | Refused]:
    now = clock.now()
    good = [plan for plan in plans if isinstance(plan, Plan)]
    answers: dict[int, Taken | Refused] = {}

    def work(*, exact: bool) -> Callable[[], None]:
        def run() -> None:
            answers.clear()
            with transaction.atomic():
                if whole is not None:
                    _claim_whole(caller, whole, plans)
                    fresh = good
                else:
                    fresh = _win_keys(caller, good, answers, exact=exact, now=now)
                _insert(fresh, now=now)

        return run

    if good or whole is not None:
        exact = not _surely_new(caller, good, now=now)
        try:
            try:
                partitions.with_day(now.date(), work(exact=exact))
            except IntegrityError as error:
                if exact or not isinstance(error.__cause__, psycopg.errors.UniqueViolation):
                    raise
                partitions.with_day(now.date(), work(exact=True))
        except OperationalError as error:
            if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                raise
            if whole is not None:
                raise _KeySeen from error
            return [Refused(_IN_PROGRESS)] * len(plans)
    stored = [plan for plan in good if id(plan) not in answers]
    publish.at_once([delivery for plan in stored for delivery in plan.deliveries])
    results = [_answer(plan, answers) for plan in plans]
    _log_rejections(
        caller,
        [
            (plan.fields if isinstance(plan, Plan) else {}, result.problem)
            for plan, result in zip(plans, results, strict=True)
            if isinstance(result, Refused) and isinstance(plan, Problem)
        ],
    )
    return results


def _answer(plan: Plan | Problem, answers: dict[int, Taken | Refused]) -> Taken | Refused:
    if isinstance(plan, Problem):
        return Refused(plan)
    return answers.get(id(plan)) or Taken(plan.response, replayed=False)


def _surely_new(caller: Caller, plans: Sequence[Plan], *, now: dt.datetime) -> bool:
    keys = [plan.key for plan in plans if plan.key]
    if not keys or len(set(keys)) < len(keys):
        return False
    scope = f"{caller.producer_id}.{caller.mode.value}"
    return bloom.all_surely_new(scope, keys, today=now.date())


def _win_keys(
    caller: Caller,
    plans: Sequence[Plan],
    answers: dict[int, Taken | Refused],
    *,
    exact: bool,
    now: dt.datetime,
) -> list[Plan]:
    """Store the keys of these plans; returns the plans that are new, and answers for the others."""
    first = {}
    for plan in plans:
        if plan.key:
            first.setdefault(plan.key, plan)
    entries = [
        idempotency.Entry(key=plan.key, body_hash=plan.body_hash, response=plan.response)
        for plan in first.values()
    ]
    if not entries:
        return list(plans)
    if not exact:
        idempotency.copy(caller.producer_id, caller.mode, entries, now=now)
        return list(plans)
    won = idempotency.claim(caller.producer_id, caller.mode, entries)
    lost = [key for key in first if key not in won]
    earlier = {
        **{entry.key: entry for entry in entries},
        **idempotency.first_answers(caller.producer_id, caller.mode, lost),
    }
    fresh = []
    for plan in plans:
        if not plan.key or (plan.key in won and first[plan.key] is plan):
            fresh.append(plan)
        elif earlier[plan.key].body_hash == plan.body_hash:
            answers[id(plan)] = Taken(earlier[plan.key].response, replayed=True)
        else:
            answers[id(plan)] = Refused(_KEY_REUSED)
    return fresh


def _claim_whole(caller: Caller, whole: _WholeKey, plans: Sequence[Plan | Problem]) -> None:
    response = [_stored(plan) for plan in plans]
    entry = idempotency.Entry(key=whole.key, body_hash=whole.body_hash, response=response)
    if not idempotency.claim(caller.producer_id, caller.mode, [entry]):
        raise _KeySeen


def _stored(plan: Plan | Problem) -> dict[str, Any]:
    """One result of a whole call, as it is kept for its repeats."""
    if isinstance(plan, Plan):
        return {"taken": plan.response}
    return {
        "refused": {
            "kind": plan.kind.value,
            "detail": plan.detail,
            "errors": [[error.pointer, error.detail] for error in plan.errors],
        }
    }


def _revived(kept: dict[str, Any]) -> Taken | Refused:
    if "taken" in kept:
        return Taken(kept["taken"], replayed=True)
    return Refused(Problem.revived(**kept["refused"]))


def _insert(plans: Sequence[Plan], *, now: dt.datetime) -> None:
    if not plans:
        return
    inserts.notifications([plan.row for plan in plans])
    inserts.deliveries(
        [delivery for plan in plans for delivery in plan.deliveries],
        notification_ids=[plan.id for plan in plans for _ in plan.deliveries],
        now=now,
    )


def _log_rejections(caller: Caller, refused: Sequence[tuple[dict[str, Any], Problem]]) -> None:
    Rejected.objects.bulk_create(
        Rejected(
            producer_id=caller.producer_id,
            user_id=_word(fields.get("user_id"), 128),
            type=_word(fields.get("type"), 64),
            problem=problem.kind.value,
            detail=redacted(problem.detail),
            pointers=[error.pointer[:200] for error in problem.errors[:20]],
        )
        for fields, problem in refused
    )


def _word(value: object, length: int) -> str:
    text = value if isinstance(value, str) else ""
    # Postgres stores no NUL, and a lone surrogate is no text.
    return text.replace("\x00", "").encode(errors="ignore").decode()[:length]
