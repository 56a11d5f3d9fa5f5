"""Idempotency keys of a list of requests: separate new requests from repeats, with their results.

Used keys are read beforehand (`lookups.answered`). New keys are inserted with their rows. If a
concurrent request inserts a key first, the unique index rejects all rows, and the list is sorted
again.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

from notifications.core.intake.plan import Plan
from notifications.core.intake.validation import IntakeRequest
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.request import canonical
from notifications.core.store.postgres import durable_reads
from notifications.core.store.postgres.idempotency import IdempotencyKey, IdempotencyRecord
from notifications.core.store.postgres.secret_variables import Fingerprint

IN_PROGRESS: Final = Problem(
    Kind.IN_PROGRESS,
    "a request with the same idempotency key is still running; ask again in a second",
    retry_after=dt.timedelta(seconds=1),
)
KEY_REUSED: Final = Problem(
    Kind.KEY_REUSED,
    "this idempotency key was used in the last 24 hours with another body; use a new key",
)

OF_ANOTHER_RELEASE: Final = Problem(
    Kind.UNAVAILABLE,
    "a request with this idempotency key was accepted, and its answer has the form of another"
    " release of the service, which is being upgraded; repeat the request with the same key",
    retry_after=dt.timedelta(minutes=1),
)


class AnswerOfAnotherRelease(Exception):
    """An item of a whole call has such an answer; the result of the call cannot be stored."""

    problem: Final = OF_ANOTHER_RELEASE


class AcceptedRequest(NamedTuple):
    """An accepted request, now or before."""

    response: dict[str, Any]
    replayed: bool
    """True if the response belongs to an earlier request with the key; no row was stored."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused request; no row was stored."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The results of a batch with a key for the whole call."""

    results: list[AcceptedRequest | Refused]
    replayed: bool


def to_json(result: AcceptedRequest | Refused) -> dict[str, Any]:
    """Serialise a result of a whole call for later repeats.

    Raises:
        AnswerOfAnotherRelease: another process can answer, so the result is not final.
    """
    if isinstance(result, AcceptedRequest):
        return {"taken": result.response, "replayed": result.replayed}
    problem = result.problem
    if problem is OF_ANOTHER_RELEASE:
        raise AnswerOfAnotherRelease
    errors = [[error.pointer, error.detail] for error in problem.errors]
    return {"refused": {"kind": problem.kind.value, "detail": problem.detail, "errors": errors}}


def from_json(kept: dict[str, Any]) -> AcceptedRequest | Refused:
    """Read a result stored by `to_json`, also of another release."""
    if "taken" in kept:
        return AcceptedRequest(kept["taken"], replayed=bool(kept.get("replayed", True)))
    return Refused(Problem.from_stored(kept.get("refused", {})))


@dataclass(slots=True, kw_only=True)
class KeyResolution:
    """New plans and keys to store, and the first responses to repeats."""

    new_plans: list[Plan] = field(default_factory=list)
    entries: list[IdempotencyRecord] = field(default_factory=list)
    """The keys of `new_plans`."""
    earlier: dict[UUID, IdempotencyRecord] = field(default_factory=dict)
    """Stored responses by the repeating plan's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchKey:
    """The idempotency key of a whole call."""

    key: IdempotencyKey
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class Repeat:
    """A request with a used key, found before planning."""

    earlier: IdempotencyRecord
    fingerprint: Fingerprint
    """Fingerprint of the new request."""


Entry = Plan | Repeat | Problem
"""A request of a list after planning."""


class AlreadyAnswered(Exception):
    """The whole call was answered before."""

    def __init__(self, earlier: IdempotencyRecord) -> None:
        super().__init__(earlier.key.name)
        self.body_hash = earlier.body_hash
        self.response: Any = earlier.response


def repeat_of(
    ask: IntakeRequest, answered: Mapping[IdempotencyKey, IdempotencyRecord]
) -> Repeat | None:
    """Return the repeat of an earlier request; None for a new or missing key."""
    name = ask.request.idempotency_key
    if not name:
        return None
    earlier = answered.get(IdempotencyKey(ask.caller.producer_id, ask.caller.mode, name))
    return None if earlier is None else Repeat(earlier, Fingerprint(canonical(ask.request)))


def resolve(
    plans: Sequence[Plan], answered: Mapping[IdempotencyKey, IdempotencyRecord]
) -> KeyResolution:
    """Separate new plans from repeats of this list or earlier requests.

    The first plan with a key answers later plans with the same key.
    """
    found = KeyResolution()
    here: dict[IdempotencyKey, IdempotencyRecord] = {}
    for plan in plans:
        key = plan.key
        if key is None or plan.fingerprint is None:
            found.new_plans.append(plan)
        elif earlier := answered.get(key) or here.get(key):
            found.earlier[plan.id] = earlier
        else:
            here[key] = IdempotencyRecord(
                key, plan.fingerprint.kept, plan.response, plan.packed_response
            )
            found.new_plans.append(plan)
    found.entries = list(here.values())
    return found


def confirm_repeats(plans: Sequence[Entry], found: KeyResolution) -> None:
    """Wait until a standby has the first responses to the repeats of a list that writes no row.

    Raises:
        OperationalError: the responses may be lost by a failover.
    """
    if found.earlier or any(isinstance(each, Repeat) for each in plans):
        durable_reads.confirm()


def repeat_result(
    earlier: IdempotencyRecord, fingerprint: Fingerprint | None
) -> AcceptedRequest | Refused:
    """Return the first answer of a key.

    A request with another body, or whose answer this release cannot read, is refused.
    """
    if fingerprint is None or not fingerprint.is_of(earlier.body_hash):
        return Refused(KEY_REUSED)
    if earlier.response is None:
        return Refused(OF_ANOTHER_RELEASE)
    return AcceptedRequest(earlier.response, replayed=True)
