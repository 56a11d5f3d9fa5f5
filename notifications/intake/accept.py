"""Accept: a producer's request becomes durable rows, or a clear refusal.

A 202 promises that notification, deliveries, first events and the idempotency key are committed
together. Publishing may fail afterwards without a loss, because each delivery is due by itself.

Every step takes a list: a batch, or single requests that arrive at the same time (`group_commit`).
Idempotency keys are looked up first: a request with a key in use gets the first answer, whether or
not it could be accepted now. Between two concurrent requests the key's unique index decides.
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
"""How long a group waits for a key that another request stores; then its calls run alone."""
_TRIES: Final = 5
"""How often a list is sorted again because another request took one of its keys first."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Accepted, now or before."""

    response: dict[str, Any]
    replayed: bool
    """The answer is that of an earlier request with this key; no row was stored."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Not accepted; no row was stored."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """The answer to a batch whose key covers the whole call."""

    results: list[Taken | Refused]
    replayed: bool


class _Locked(Exception):
    """Another request with one of the keys is still running."""


@dataclass(slots=True)
class Single:
    """A single request, accepted together with others that arrive at the same time."""

    ask: Ask
    charge: Charge
    quota: Quota | None = None
    """The answer of the rate limit, which is asked once."""


_Charged = tuple[Taken | Refused | None, Quota]
"""Answer and remaining quota of one request; the answer is None if the request is over its limit.
"""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A list that is ready to be stored."""

    asks: Sequence[Ask | Problem]
    plans: Sequence[Plan | Repeat | Problem]
    known: Known


def accept(
    caller: Caller, asked: Sequence[NotificationRequest], *, traceparent: str = ""
) -> list[Taken | Refused]:
    """Accept a list of requests; returns one answer for each, in order. A refusal affects no other.

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
    """Accept a batch under one key for the whole call; the items' own keys count as well.

    Args:
        caller: the producer.
        key: the key of the call.
        fingerprint: of the canonical body.
        asked: each item as it was understood, in order.
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
    """Charge and accept a single request; the answer is None if the request is over its limit.

    Raises:
        django.db.Error: no row was stored, or the database went away during the commit.
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
        NothingStored: an item cannot be planned or stored, or waits for a key.
        django.db.Error: the database went away during the commit.
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
    """Prepare a list and store what is new in it, with the recipients that it registers.

    Raises:
        _Locked: another request with one of the keys is still running.
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
    """Read what a list needs and plan what is new in it.

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
    """Plan a new request; a repeat is answered even if it could not be accepted now."""
    repeat = idempotency_keys.repeat_of(ask, known.answered) if known.answered else None
    return repeat or planned(ask, known)


def _stored(
    prepared: _Prepared, *, whole: WholeKey | None = None, patience: dt.timedelta | None = None
) -> Sorted:
    """Store what is new, with its keys, in one transaction.

    Raises:
        _Locked: another request with one of the keys is still running.
        idempotency_keys.Answered: the whole call was answered before.
        IntegrityError: the day was dropped by retention; the clock is wrong.
        OperationalError: the database is away.
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
    """Insert the new rows and their keys, all or none."""
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
    """List the places of deliveries with an ordering key; a scheduled one joins at release."""
    return [
        (plan.ordering_key, delivery.channel, delivery.id)
        for plan in plans
        if plan.ordering_key is not None
        for delivery in plan.deliveries
        if delivery.status == Status.QUEUED
    ]


def _finish(prepared: _Prepared, found: Sorted) -> None:
    """Publish P0 and P1, count, and note refusals; a failure here affects no stored row."""
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
    """Serialise one result of a whole call for its repeats."""
    if isinstance(result, Taken):
        return {"taken": result.response, "replayed": result.replayed}
    problem = result.problem
    errors = [[error.pointer, error.detail] for error in problem.errors]
    return {"refused": {"kind": problem.kind.value, "detail": problem.detail, "errors": errors}}


def _revived(kept: dict[str, Any]) -> Taken | Refused:
    if "taken" in kept:
        return Taken(kept["taken"], replayed=bool(kept.get("replayed", True)))
    return Refused(Problem.revived(kept.get("refused", {})))
