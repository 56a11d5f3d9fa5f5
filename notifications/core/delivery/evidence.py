"""Evidence: facts about the calls of rows whose lease has expired.

    the sent-ledger has an entry       the outcome, as the worker got it
    the sent-ledger has no entry       a call that began is unanswered
    the sent-ledger was not read       rows with a begun call wait for the next run

The flight recorders of dead processes of this host are published into the ledger first.

A ledger that does not answer is no empty ledger. The wait has an end, because a state Redis may be
away for hours: P0 and P1 wait for one more lease, P2 and P3 for an hour. A row does not wait if
the provider drops or hides a repeat.

The circuit breaker has not judged each refusal of a dead worker. Many refusals of one provider
together are doubted, as while the state Redis is away, and keep the contacts. So does a suspect
refusal (`provider_health.is_suspect`). Many refusals of the same part wait (`refused_parts`).
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import structlog

from notifications.core.delivery import routing
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.delivery.provider_health import (
    NOT_BELIEVED,
    is_of_one_message,
    is_suspect,
    keep_contact,
)
from notifications.core.rules import unanswered
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import PACE, Priority
from notifications.core.rules.rate_limits.circuit_breaker import REFUSALS_BELIEVED, CallStats
from notifications.core.rules.unanswered import Answer
from notifications.core.store import flight_recorder
from notifications.core.store.postgres import alerts, claims, db
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.redis import sent_ledger, state
from notifications.core.store.redis.sent_ledger import LedgerEntry
from providers.contract import (
    Accepted,
    Channel,
    Misconfigured,
    Provider,
    Rejected,
    Repeat,
    Result,
    Throttled,
    Unavailable,
)

_log = structlog.get_logger(__name__)

Row = dict[str, Any]
"""A row of `due.sql`."""
_LOOK_AGAIN: Final = dt.timedelta(seconds=3)
"""Wait of a row for the ledger: longer than the state Redis counts as away."""
_PATIENCE: Final = dt.timedelta(hours=1)
"""Time from the call for which P2 and P3 wait; a restart or a failover takes minutes."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The rows to settle now, and the ledger's entries of their last calls."""

    rows: Sequence[Row]
    entries: Mapping[UUID, LedgerEntry]


def gather(rows: Sequence[Row]) -> Evidence:
    """Read the sent-ledger; rows that have to wait for the ledger are left out."""
    called = [row for row in rows if row["call_started_at"] is not None]
    try:
        if called:
            flight_recorder.reap()
        found = sent_ledger.load({row["id"]: row["attempts"] for row in called})
    except state.Away:
        left = _leave(called)
        return Evidence([row for row in rows if row["id"] not in left], {})
    entries = {
        row["id"]: entry
        for row in called
        if (entry := found.get(row["id"])) is not None and entry.token in {None, row["claim_token"]}
    }
    return Evidence(rows, entries | _doubts(called, entries))


def entry_of(claimed: ClaimedDelivery, result: Result, *, provider: Provider) -> LedgerEntry:
    """Return the ledger's entry of an ended call."""
    entry = LedgerEntry(claimed.delivery.id, claimed.call, provider.name, result.outcome)
    return entry._replace(**facts_of(claimed))


def facts_of(claimed: ClaimedDelivery) -> dict[str, Any]:
    """Return the circumstances of a call for the ledger, without those with their default."""
    facts: dict[str, Any] = {"has_next": len(claimed.providers) > 1}
    if claimed.passed_by:
        facts["passed_by"] = True
    if claimed.in_doubt:
        facts["in_doubt"] = True
    if claimed.is_probe:
        facts["is_probe"] = True
    if claimed.is_one_of_many:
        facts["is_one_of_many"] = True
    return facts


def may_go_on(entry: LedgerEntry) -> bool:
    """Return True if the worker would have sent the delivery by another provider at once.

    An entry of a worker of another release does not tell the providers of the round: then a refusal
    that another provider may not share is tried again.
    """
    match entry.outcome:
        case Throttled() | Unavailable() | Misconfigured():
            return entry.has_next is True
        case Rejected(another_provider_may_accept=True):
            return entry.has_next is not False
        case _:
            return False


def _leave(called: Sequence[Row]) -> set[UUID]:
    """Let the rows wait for which a repeat would be visible; returns the ids."""
    if not called:
        return set()
    [transaction] = db.rows("transaction_now", {})
    left = sorted(row["id"] for row in called if _waits(row, now=transaction["now"]))
    if left:
        claims.wait_for_evidence(left, wait=_LOOK_AGAIN)
        detail = f"{len(left)} deliveries of dead workers wait: the state Redis does not answer"
        alerts.raise_after_commit(AlertKind.SENT_LEDGER_UNREAD, "", detail)
    _log.warning("sent_ledger_not_read", waiting=len(left), settled_without=len(called) - len(left))
    return set(left)


def _waits(row: Row, *, now: dt.datetime) -> bool:
    priority, channel = Priority(row["priority"]), Channel(row["channel"])
    provider = routing.provider_named(row["provider"])
    repeat = provider.capabilities.repeat if provider else Repeat.VISIBLE
    answer = unanswered.answer_for(channel=channel, priority=priority, repeat=repeat)
    if answer is Answer.RESEND:
        return False
    patience = 2 * PACE[priority].lease if priority.is_urgent else _PATIENCE
    began: dt.datetime = row["call_started_at"]
    return now < began + patience


def _doubts(rows: Iterable[Row], entries: Mapping[UUID, LedgerEntry]) -> dict[UUID, LedgerEntry]:
    """Return the entries of refusals that are too many at once to be believed."""
    together: dict[tuple[str, int], list[LedgerEntry]] = defaultdict(list)
    of_parts: dict[tuple[str, int, str], list[LedgerEntry]] = defaultdict(list)
    for row in rows:
        known = entries.get(row["id"])
        if known is not None and not known.is_judged:
            together[known.provider, row["channel"]].append(known)
            if is_of_one_message(known.outcome) and not row["falls_back"]:
                of_parts[known.provider, row["channel"], known.outcome.refused_part].append(known)
    doubted = {
        each.delivery_id: each._replace(is_one_of_many=True)
        for refused in of_parts.values()
        for each in refused[REFUSALS_BELIEVED:]
    }
    for found in together.values():
        refused = [
            (each, each.outcome)
            for each in found
            if isinstance(each.outcome, Rejected) and not is_of_one_message(each.outcome)
        ]
        accepted = sum(isinstance(each.outcome, Accepted) for each in found)
        stats = CallStats(calls=len(found), rejected=len(refused), accepted=accepted)
        for entry, outcome in refused:
            if is_suspect(outcome):
                doubted[entry.delivery_id] = entry._replace(outcome=keep_contact(outcome))
        for entry, outcome in refused[circuit_breakers.judge_alone(stats).believed :]:
            doubt = Misconfigured(code=outcome.code, detail=NOT_BELIEVED)
            doubted[entry.delivery_id] = entry._replace(outcome=doubt)
    return doubted
