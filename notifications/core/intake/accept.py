"""Accept: store a producer's request as durable rows, or refuse it.

A 202 response promises a commit of the notification, its deliveries, their first events and the
idempotency key. Publishing may fail afterwards without a loss, because the rows are due.

Every step takes a list: a batch, or single requests that arrive at the same time (`group_commit`).
Idempotency keys are looked up first: a request with a used key gets the first response, even if the
request would be refused now. The unique index on keys decides between concurrent requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import psycopg
import structlog
from django.db import Error, OperationalError, transaction

from notifications.core import clock
from notifications.core.intake import (
    accept_metrics,
    attachments,
    checks,
    held_keys,
    idempotency_keys,
    new_rows,
    registration,
    rejections,
    validation,
)
from notifications.core.intake.checks import Undo
from notifications.core.intake.group_commit import Finished, GroupCommit, NothingStored
from notifications.core.intake.idempotency_keys import (
    IN_PROGRESS,
    KEY_REUSED,
    AcceptedRequest,
    BatchKey,
    BatchResult,
    Entry,
    KeyResolution,
    Refused,
    Repeat,
    from_json,
    repeat_result,
    to_json,
)
from notifications.core.intake.plan import Plan, plan_request
from notifications.core.intake.validation import Caller, IntakeRequest, Lookups
from notifications.core.rules.problems import Problem
from notifications.core.rules.request import NotificationRequest
from notifications.core.store.postgres import db, durable_reads, idempotency, publish, slots
from notifications.core.store.postgres.idempotency import IdempotencyKey, IdempotencyRecord
from notifications.core.store.postgres.secret_variables import Fingerprint
from notifications.core.store.rate_limits import producer_limits
from notifications.core.store.rate_limits.producer_limits import Charge, Quota

__all__ = [
    "AcceptedRequest",
    "BatchResult",
    "Caller",
    "IntakeRequest",
    "Outcome",
    "Refused",
    "Single",
    "accept",
    "accept_once",
    "accept_one",
    "submit_one",
]

_log = structlog.get_logger(__name__)
_TRIES: Final = 5
"""Maximum number of attempts to store a list while other requests insert the same keys."""


class _Locked(Exception):
    """A concurrent request uses the same key."""

    problem: Final = IN_PROGRESS


_CONFLICTS: Final = (_Locked, idempotency_keys.AnswerOfAnotherRelease)


@dataclass(slots=True)
class Single:
    """A single request, accepted together with concurrent requests."""

    ask: IntakeRequest
    charge: Charge
    quota: Quota | None = None
    """The result of the rate limit, which is charged once."""


Outcome = tuple[AcceptedRequest | Refused | None, Quota]
"""Result and remaining quota of a request; the result is None above the rate limit."""


@dataclass(frozen=True, slots=True)
class _PreparedList:
    """A list of requests, ready to be stored."""

    asks: Sequence[IntakeRequest | Problem]
    plans: list[Entry]
    """A plan becomes a problem when its files are gone before the rows are stored."""
    lookups: Lookups
    undos: Sequence[Undo]
    """Called if the rows are not stored."""
    began: float
    """Monotonic time at which the process began to check the list, in seconds."""


def accept(
    caller: Caller, asked: Sequence[NotificationRequest], *, traceparent: str = ""
) -> list[AcceptedRequest | Refused]:
    """Accept a list of requests; returns the results in order. A refusal affects no other request.

    Raises:
        django.db.Error: no row was stored.
    """
    return _accept_all([IntakeRequest(caller, each, traceparent) for each in asked])


def accept_once(
    caller: Caller,
    key: str,
    fingerprint: Fingerprint,
    asked: Sequence[NotificationRequest | Problem],
    *,
    traceparent: str = "",
) -> BatchResult | Problem:
    """Accept a batch under a key for the whole call; the items' own keys count as well.

    Args:
        caller: the producer.
        key: the idempotency key of the call.
        fingerprint: of the canonical body.
        asked: parsed items, or the problem of an invalid item, in order.
        traceparent: W3C trace context of the call.
    """
    asks = [
        each if isinstance(each, Problem) else IntakeRequest(caller, each, traceparent)
        for each in asked
    ]
    whole = BatchKey(
        key=IdempotencyKey(caller.producer_id, caller.mode, key), fingerprint=fingerprint
    )
    try:
        prepared, found = _prepare_and_store(asks, whole=whole)
    except _CONFLICTS as conflict:
        return conflict.problem
    except checks.AllRefused as refused:
        return refused.problem
    except idempotency_keys.AlreadyAnswered as earlier:
        if not fingerprint.is_of(earlier.body_hash):
            return KEY_REUSED
        durable_reads.confirm()
        return BatchResult([from_json(result) for result in earlier.response], replayed=True)
    _finish(prepared, found)
    return BatchResult([_result(plan, found) for plan in prepared.plans], replayed=False)


def accept_one(single: Single) -> Outcome:
    """Charge and accept a single request; the result is None above the rate limit.

    Raises:
        django.db.Error: no row was stored, or the database failed during the commit.
    """
    if _is_alone(single):
        with slots.taken():
            return _run_alone(single)
    return _group.run(single)


def submit_one(single: Single, tell: Callable[[Outcome | BaseException], None]) -> None:
    """Charge and accept a single request as `accept_one`, without a wait for other requests.

    Args:
        single: the request.
        tell: gets the outcome or the error once, maybe in another thread; raises nothing.
    """
    if _is_alone(single):
        try:
            outcome: Outcome | BaseException = accept_one(single)
        except Exception as error:  # noqa: BLE001 - any error is told
            outcome = error
        tell(outcome)
        return
    _group.submit(single, tell)


def _is_alone(single: Single) -> bool:
    """Return True for a request that may wait for a lock, or register a recipient."""
    request, caller = single.ask.request, single.ask.caller
    if request.ordering_key or registration.is_by_address(request):
        return True
    return held_keys.is_noted(caller.producer_id, caller.mode, request.idempotency_key)


def _accept_all(asks: Sequence[IntakeRequest]) -> list[AcceptedRequest | Refused]:
    try:
        prepared, found = _prepare_and_store(asks)
    except _CONFLICTS as conflict:
        return [Refused(conflict.problem)] * len(asks)
    _finish(prepared, found)
    return [_result(plan, found) for plan in prepared.plans]


def _run_group(singles: Sequence[Single]) -> Finished[Outcome]:
    """Charge and accept a group in one transaction.

    Raises:
        NothingStored: a request cannot be planned or stored, or waits for a key.
        django.db.Error: the database failed during the commit.
    """
    quotas = _charge(singles)
    granted = [each.ask for each, quota in zip(singles, quotas, strict=True) if quota.granted]
    try:
        prepared = _prepare(granted)
    except Exception as error:  # any error: no row is stored, and each call then runs alone
        raise NothingStored from error
    try:
        found = _store(prepared, is_group=True)
    except _CONFLICTS as error:
        raise NothingStored from error
    except Error as error:
        if db.is_undone(error):
            raise NothingStored from error
        raise
    answers = iter([_result(plan, found) for plan in prepared.plans])
    results = [(next(answers) if quota.granted else None, quota) for quota in quotas]
    return results, partial(_finish, prepared, found)


def _run_alone(single: Single) -> Outcome:
    [quota] = _charge([single])
    return (_accept_all([single.ask])[0] if quota.granted else None), quota


def _charge(singles: Sequence[Single]) -> list[Quota]:
    unasked = [each for each in singles if each.quota is None]
    if unasked:
        quotas = producer_limits.take([each.charge for each in unasked])
        for single, quota in zip(unasked, quotas, strict=True):
            single.quota = quota
    return [each.quota for each in singles if each.quota is not None]


_group: Final = GroupCommit(_run_group, _run_alone)


def _prepare_and_store(
    asks: Sequence[IntakeRequest | Problem], *, whole: BatchKey | None = None
) -> tuple[_PreparedList, KeyResolution]:
    """Prepare a list and store its new requests, with the recipients to register.

    Raises:
        _Locked: a concurrent request uses the same key.
        idempotency_keys.AlreadyAnswered: the whole call was answered before.
    """
    if not registration.is_needed(asks):
        prepared = _prepare(asks, whole=whole)
        return prepared, _store(prepared, whole=whole)
    with transaction.atomic():
        registered = registration.register(asks)
        prepared = _prepare(registered.asks, whole=whole)
        found = _store(prepared, whole=whole)
        registration.remove_unused(
            registered, except_for={plan.user_id for plan in found.new_plans}
        )
    return prepared, found


def _prepare(
    asks: Sequence[IntakeRequest | Problem], *, whole: BatchKey | None = None
) -> _PreparedList:
    """Read the data for a list and plan its new requests.

    Raises:
        idempotency_keys.AlreadyAnswered: the whole call was answered before.
        checks.AllRefused: each item of the whole call is refused for a time.
    """
    began = clock.monotonic()
    asked = [each for each in asks if isinstance(each, IntakeRequest)]
    lookups = validation.look_up(asked, also=[] if whole is None else [whole.key])
    if whole is not None and whole.key in lookups.answered:
        raise idempotency_keys.AlreadyAnswered(lookups.answered[whole.key])
    plans, undos = checks.refuse(_plan(asks, lookups))
    if whole is not None:
        checks.raise_if_all(plans)
    return _PreparedList(asks, plans, lookups, undos, began)


def _plan(asks: Sequence[IntakeRequest | Problem], lookups: Lookups) -> list[Entry]:
    """Plan new requests. A repeat returns its first response, even if invalid now."""
    answered, new_ids = lookups.answered, clock.new_notification_ids(len(asks), at=lookups.now)
    return [
        each
        if isinstance(each, Problem)
        else (idempotency_keys.repeat_of(each, answered) if answered else None)
        or plan_request(each, lookups, new_id)
        for each, new_id in zip(asks, new_ids, strict=True)
    ]


def _store(
    prepared: _PreparedList, *, whole: BatchKey | None = None, is_group: bool = False
) -> KeyResolution:
    """Store new requests with their keys; raises as `_store_rows`, and takes counts back then."""
    try:
        return _store_rows(prepared, whole=whole, is_group=is_group)
    except BaseException:
        for undo in prepared.undos:
            undo()
        raise


def _store_rows(
    prepared: _PreparedList, *, whole: BatchKey | None, is_group: bool
) -> KeyResolution:
    """Store new requests with their keys in a transaction.

    Raises:
        _Locked: a concurrent request uses the same key.
        idempotency_keys.AlreadyAnswered: the whole call was answered before.
        IntegrityError: retention dropped the day's partition, so the clock is wrong.
        OperationalError: the database failed.
    """
    now, answered = prepared.lookups.now, prepared.lookups.answered
    for _ in range(_TRIES):
        found = _separate_repeats(prepared, answered, whole)
        if not found.entries and not found.new_plans:
            idempotency_keys.confirm_repeats(prepared.plans, found)
            return found
        try:
            if new_rows.insert(found, now=now, is_group=is_group):
                return found
        except attachments.FilesGone as gone:
            checks.refuse_gone(prepared.plans, gone)
            continue
        except OperationalError as error:
            if isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                raise _Locked from error
            raise
        # A concurrent request inserted a key, or a key has expired and is not yet deleted.
        names = {entry.key for entry in found.entries}
        idempotency.forget_expired(names)
        [newer] = db.fetch_all([idempotency.first_answers(names)])
        answered |= {entry.key: entry for entry in newer}
    raise _Locked


def _separate_repeats(
    prepared: _PreparedList,
    answered: Mapping[IdempotencyKey, IdempotencyRecord],
    whole: BatchKey | None,
) -> KeyResolution:
    """Separate new plans from repeats.

    Raises:
        idempotency_keys.AlreadyAnswered: the whole call was answered before.
    """
    plans = [plan for plan in prepared.plans if isinstance(plan, Plan)]
    if whole is None:
        return idempotency_keys.resolve(plans, answered)
    if whole.key in answered:
        raise idempotency_keys.AlreadyAnswered(answered[whole.key])
    # An item with the key of the whole call uses the key for a different body.
    taken = {whole.key: IdempotencyRecord(whole.key, whole.fingerprint.kept, None)}
    found = idempotency_keys.resolve(plans, {**answered, **taken})
    kept = [to_json(_result(plan, found)) for plan in prepared.plans]
    found.entries.append(IdempotencyRecord(whole.key, whole.fingerprint.kept, kept))
    return found


def _finish(prepared: _PreparedList, found: KeyResolution) -> None:
    """Publish P0 and P1, and record metrics and refusals. A failure affects no stored row."""
    accept_metrics.record(found.new_plans, seconds=clock.monotonic() - prepared.began)
    publish.publish_new([delivery for plan in found.new_plans for delivery in plan.deliveries])
    accept_metrics.count_stopped(found.new_plans)
    rejections.note(
        (ask, plan)
        for ask, plan in zip(prepared.asks, prepared.plans, strict=True)
        # Requests that arrived as a problem are already logged.
        if isinstance(ask, IntakeRequest) and isinstance(plan, Problem)
    )


def _result(plan: Entry, found: KeyResolution) -> AcceptedRequest | Refused:
    if isinstance(plan, Problem):
        return Refused(plan)
    if isinstance(plan, Repeat):
        return repeat_result(plan.earlier, plan.fingerprint)
    earlier = found.earlier.get(plan.id) if found.earlier else None
    if earlier is None:
        return AcceptedRequest(plan.response, replayed=False)
    return repeat_result(earlier, plan.fingerprint)
