"""Accept: store a producer's request as durable rows, or refuse it.

A 202 response promises a commit of the notification, its deliveries, their first events and the
idempotency key. Publishing may fail afterwards without a loss, because the rows are due.

Every step takes a list: a batch, or single requests that arrive at the same time (`group_commit`).
Idempotency keys are looked up first: a request with a used key gets the first response, even if the
request would be refused now. The unique index on keys decides between concurrent requests.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID

import psycopg
import structlog
from django.db import Error, IntegrityError, OperationalError, connection, transaction

from notifications.intake import idempotency_keys, publish, registration, rejections, validation
from notifications.intake.group_commit import Finished, GroupCommit, NothingStored
from notifications.intake.idempotency_keys import IN_PROGRESS, KEY_REUSED, Repeat, Sorted, WholeKey
from notifications.intake.plan import Plan, planned
from notifications.intake.validation import Ask, Caller, Known
from notifications.rules.lane import Mode
from notifications.rules.problems import Problem
from notifications.rules.request import NotificationRequest
from notifications.rules.states import Status
from notifications.store.postgres import db, idempotency, inserts, ordering_queues, partitions
from notifications.store.postgres.idempotency import Entry, Key
from notifications.store.postgres.secret_variables import Fingerprint
from notifications.store.rate_limits import producer_limits
from notifications.store.rate_limits.producer_limits import Charge, Quota
from notifications.store.redis import metric_counters

__all__ = [
    "Ask",
    "Caller",
    "Refused",
    "Single",
    "Taken",
    "WholeAnswer",
    "accept",
    "accept_once",
    "accept_one",
]

_log = structlog.get_logger(__name__)
_PATIENCE: Final = dt.timedelta(milliseconds=200)
"""Lock timeout of a group for a key that another request stores; then the group's calls run
alone."""
_TRIES: Final = 5
"""Maximum number of attempts to store a list while other requests insert the same keys."""


@dataclass(frozen=True, slots=True)
class Taken:
    """An accepted request, now or before."""

    response: dict[str, Any]
    replayed: bool
    """True if the response belongs to an earlier request with the key; no row was stored."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused request; no row was stored."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """The results of a batch with a key for the whole call."""

    results: list[Taken | Refused]
    replayed: bool


class _Locked(Exception):
    """A concurrent request uses the same key."""


@dataclass(slots=True)
class Single:
    """A single request, accepted together with concurrent requests."""

    ask: Ask
    charge: Charge
    quota: Quota | None = None
    """The result of the rate limit, which is charged once."""


_Charged = tuple[Taken | Refused | None, Quota]
"""Result and remaining quota of a request; the result is None above the rate limit."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A list of requests, ready to be stored."""

    asks: Sequence[Ask | Problem]
    plans: Sequence[Plan | Repeat | Problem]
    known: Known


def accept(
    caller: Caller, asked: Sequence[NotificationRequest], *, traceparent: str = ""
) -> list[Taken | Refused]:
    """Accept a list of requests; returns the results in order. A refusal affects no other request.

    Raises:
        django.db.Error: no row was stored.
    """
    return _accepted([Ask(caller, each, traceparent) for each in asked])


def accept_once(
    caller: Caller,
    key: str,
    fingerprint: Fingerprint,
    asked: Sequence[NotificationRequest | Problem],
    *,
    traceparent: str = "",
) -> WholeAnswer | Problem:
    """Accept a batch under a key for the whole call; the items' own keys count as well.

    Args:
        caller: the producer.
        key: the idempotency key of the call.
        fingerprint: of the canonical body.
        asked: parsed items, or the problem of an invalid item, in order.
        traceparent: W3C trace context of the call.
    """
    asks = [each if isinstance(each, Problem) else Ask(caller, each, traceparent) for each in asked]
    whole = WholeKey(key=Key(caller.producer_id, caller.mode, key), fingerprint=fingerprint)
    try:
        prepared, found = _settled(asks, whole=whole)
    except _Locked:
        return IN_PROGRESS
    except idempotency_keys.Answered as earlier:
        if not fingerprint.is_of(earlier.body_hash):
            return KEY_REUSED
        return WholeAnswer([_revived(result) for result in earlier.response], replayed=True)
    _finish(prepared, found)
    return WholeAnswer([_answer(plan, found) for plan in prepared.plans], replayed=False)


def accept_one(single: Single) -> tuple[Taken | Refused | None, Quota]:
    """Charge and accept a single request; the result is None above the rate limit.

    Raises:
        django.db.Error: no row was stored, or the database failed during the commit.
    """
    if single.ask.wanted.ordering_key or single.ask.wanted.to:
        return _alone(single)  # it may have to wait for its line, or registers a recipient
    return _group.run(single)


def _accepted(asks: Sequence[Ask]) -> list[Taken | Refused]:
    try:
        prepared, found = _settled(asks)
    except _Locked:
        return [Refused(IN_PROGRESS)] * len(asks)
    _finish(prepared, found)
    return [_answer(plan, found) for plan in prepared.plans]


def _together(singles: Sequence[Single]) -> Finished[_Charged]:
    """Charge and accept a group in one transaction.

    Raises:
        NothingStored: a request cannot be planned or stored, or waits for a key.
        django.db.Error: the database failed during the commit.
    """
    quotas = _charged(singles)
    granted = [each.ask for each, quota in zip(singles, quotas, strict=True) if quota.granted]
    try:
        prepared = _prepared(granted)
    except Exception as error:  # whatever it was, it is one call's, and nothing is stored
        raise NothingStored from error
    try:
        found = _stored(prepared, patience=_PATIENCE)
    except _Locked as error:
        raise NothingStored from error
    except Error as error:
        if db.is_undone(error):
            raise NothingStored from error
        raise
    answers = iter([_answer(plan, found) for plan in prepared.plans])
    told = [(next(answers) if quota.granted else None, quota) for quota in quotas]
    return told, partial(_finish, prepared, found)


def _alone(single: Single) -> _Charged:
    [quota] = _charged([single])
    return (_accepted([single.ask])[0] if quota.granted else None), quota


def _charged(singles: Sequence[Single]) -> list[Quota]:
    unasked = [each for each in singles if each.quota is None]
    if unasked:
        quotas = producer_limits.take([each.charge for each in unasked])
        for single, quota in zip(unasked, quotas, strict=True):
            single.quota = quota
    return [each.quota for each in singles if each.quota is not None]


_group: Final = GroupCommit(_together, _alone)


def _settled(
    asks: Sequence[Ask | Problem], *, whole: WholeKey | None = None
) -> tuple[_Prepared, Sorted]:
    """Prepare a list and store its new requests, with the recipients to register.

    Raises:
        _Locked: a concurrent request uses the same key.
        idempotency_keys.Answered: the whole call was answered before.
    """
    if not registration.is_needed(asks):
        prepared = _prepared(asks, whole=whole)
        return prepared, _stored(prepared, whole=whole)
    with transaction.atomic():
        registered = registration.register(asks)
        prepared = _prepared(registered.asks, whole=whole)
        found = _stored(prepared, whole=whole)
        registration.conclude(registered, except_for={plan.user_id for plan in found.fresh})
    return prepared, found


def _prepared(asks: Sequence[Ask | Problem], *, whole: WholeKey | None = None) -> _Prepared:
    """Read the data for a list and plan its new requests.

    Raises:
        idempotency_keys.Answered: the whole call was answered before.
    """
    also = [] if whole is None else [whole.key]
    known = validation.known_of([each for each in asks if isinstance(each, Ask)], also=also)
    if whole is not None and whole.key in known.answered:
        raise idempotency_keys.Answered(known.answered[whole.key])
    plans = [_planned(each, known) if isinstance(each, Ask) else each for each in asks]
    return _Prepared(asks, plans, known)


def _planned(ask: Ask, known: Known) -> Plan | Repeat | Problem:
    """Plan a new request. A repeat returns its first response, even if invalid now."""
    repeat = idempotency_keys.repeat_of(ask, known.answered) if known.answered else None
    return repeat or planned(ask, known)


def _stored(
    prepared: _Prepared, *, whole: WholeKey | None = None, patience: dt.timedelta | None = None
) -> Sorted:
    """Store new requests with their keys in a transaction.

    Raises:
        _Locked: a concurrent request uses the same key.
        idempotency_keys.Answered: the whole call was answered before.
        IntegrityError: retention dropped the day's partition, so the clock is wrong.
        OperationalError: the database failed.
    """
    now, answered = prepared.known.now, prepared.known.answered
    for _ in range(_TRIES):
        found = _sorted_out(prepared, answered, whole)
        if not found.entries and not found.fresh:
            return found
        try:
            partitions.with_day(now.date(), partial(_insert, found, now=now, patience=patience))
        except IntegrityError as error:
            if not isinstance(error.__cause__, psycopg.errors.UniqueViolation):
                raise
        except OperationalError as error:
            if isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                raise _Locked from error
            raise
        else:
            return found
        # Somebody was quicker with one of the keys, or one is past its time and not yet deleted.
        names = {entry.key for entry in found.entries}
        idempotency.forget_expired(names)
        [newer] = db.made_together([idempotency.first_answers(names)])
        answered |= {entry.key: entry for entry in newer}
    raise _Locked


def _sorted_out(
    prepared: _Prepared, answered: Mapping[Key, Entry], whole: WholeKey | None
) -> Sorted:
    """Separate new plans from repeats.

    Raises:
        idempotency_keys.Answered: the whole call was answered before.
    """
    plans = [plan for plan in prepared.plans if isinstance(plan, Plan)]
    if whole is None:
        return idempotency_keys.sorted_out(plans, answered)
    if whole.key in answered:
        raise idempotency_keys.Answered(answered[whole.key])
    # An item with the key of the whole call is another body under that key.
    taken = {whole.key: Entry(whole.key, whole.fingerprint.kept, None)}
    found = idempotency_keys.sorted_out(plans, {**answered, **taken})
    kept = [_kept(_answer(plan, found)) for plan in prepared.plans]
    found.entries.append(Entry(whole.key, whole.fingerprint.kept, kept))
    return found


def _insert(found: Sorted, *, now: dt.datetime, patience: dt.timedelta | None) -> None:
    """Insert new rows and keys, all or none."""
    fresh, places = found.fresh, _places(found.fresh)
    # A transaction that is open must outlive a key that is taken.
    needs_block = bool(places) or connection.in_atomic_block
    with transaction.atomic() if needs_block else nullcontext():
        inserts.deliveries(
            [delivery for plan in fresh for delivery in plan.deliveries],
            notification_ids=[plan.id for plan in fresh for _ in plan.deliveries],
            now=now,
            notifications=[plan.row for plan in fresh],
            keys=idempotency.rows(found.entries, now=now),
            patience=patience if found.entries else None,  # only a key can be waited for
        )
        if places:
            ordering_queues.join(places)


def _places(plans: Sequence[Plan]) -> list[tuple[int, int, UUID]]:
    """List queue positions of new deliveries with an ordering key, except scheduled deliveries."""
    return [
        (plan.ordering_key, delivery.channel, delivery.id)
        for plan in plans
        if plan.ordering_key is not None
        for delivery in plan.deliveries
        if delivery.status == Status.QUEUED
    ]


def _finish(prepared: _Prepared, found: Sorted) -> None:
    """Publish P0 and P1, and record metrics and refusals. A failure affects no stored row."""
    publish.at_once(delivery for plan in found.fresh for delivery in plan.deliveries)
    stopped = [
        delivery.reason
        for plan in found.fresh
        if plan.mode is Mode.LIVE
        for delivery in plan.deliveries
        if delivery.status == Status.SUPPRESSED
    ]
    if stopped:
        metric_counters.count_moves(Status.SUPPRESSED, stopped)
    rejections.note(
        (ask, plan)
        for ask, plan in zip(prepared.asks, prepared.plans, strict=True)
        # What came in as a problem was noted where it was found.
        if isinstance(ask, Ask) and isinstance(plan, Problem)
    )


def _answer(plan: Plan | Repeat | Problem, found: Sorted) -> Taken | Refused:
    if isinstance(plan, Problem):
        return Refused(plan)
    if isinstance(plan, Repeat):
        return _repeated(plan.earlier, plan.fingerprint)
    earlier = found.earlier.get(plan.id)
    if earlier is None:
        return Taken(plan.response, replayed=False)
    return _repeated(earlier, plan.fingerprint)


def _repeated(earlier: Entry, fingerprint: Fingerprint | None) -> Taken | Refused:
    if fingerprint is None or not fingerprint.is_of(earlier.body_hash):
        return Refused(KEY_REUSED)
    return Taken(earlier.response, replayed=True)


def _kept(result: Taken | Refused) -> dict[str, Any]:
    """Serialise a result of a whole call for later repeats."""
    if isinstance(result, Taken):
        return {"taken": result.response, "replayed": result.replayed}
    problem = result.problem
    errors = [[error.pointer, error.detail] for error in problem.errors]
    return {"refused": {"kind": problem.kind.value, "detail": problem.detail, "errors": errors}}


def _revived(kept: dict[str, Any]) -> Taken | Refused:
    if "taken" in kept:
        return Taken(kept["taken"], replayed=bool(kept.get("replayed", True)))
    return Refused(Problem.revived(kept.get("refused", {})))
