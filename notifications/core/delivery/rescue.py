"""Rescue: settle rows after the end of the lease, because the worker died or hung.

    entry in the sent-ledger      settled as the worker would have settled the provider's answer;
                                  queued again for the next provider of the round
    no call was begun             queued again; after five such claims a dead letter (`poison`)
    any other row                 `rules.unanswered` decides

`delivery.evidence` reads the ledger. The wait of a retry or a resend has passed with the lease, so
such a row is due at once.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID

from notifications.core import clock
from notifications.core.delivery import (
    call_reservations,
    confirm,
    ended_contacts,
    evidence,
    fall_back,
    receipt_lookups,
    routing,
)
from notifications.core.delivery.ended_contacts import EndedCall
from notifications.core.rules.lane import Priority
from notifications.core.rules.outcomes import Circumstances, Decision, decide
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import NEVER_SENT, Status
from notifications.core.rules.suspects import POISON_AFTER
from notifications.core.rules.transitions import (
    CLOSE_UNANSWERED,
    FALL_BACK,
    LEAVE_UNANSWERED,
    REJECT,
    RESCUE,
    RESCUE_REFUNDED,
    RESEND,
    RETRY,
)
from notifications.core.rules.unanswered import RECHECK_AFTER
from notifications.core.store.cached import prices, retry_presets
from notifications.core.store.postgres import (
    attempts,
    db,
    fair_queue,
    reads,
    transitions,
)
from notifications.core.store.postgres.transitions import STILL_DUE, Move
from notifications.core.store.rate_limits import frequency_caps
from notifications.core.store.redis.sent_ledger import LedgerEntry
from providers.contract import (
    Accepted,
    Channel,
    NotStarted,
    Outcome,
    Rejected,
    Repeat,
    Throttled,
    Unanswered,
)

Row = dict[str, Any]
"""A row of `due.sql`."""
_POISON: Final = Decision(
    transition=REJECT, reason=Reason.POISON, detail="its workers died five times in a row"
)
_ANY_TIME_TO_LIVE: Final = dt.timedelta(days=60)
"""Of a row that is due at once: the expiry gate of the next claim checks the time to live."""


def rescue(rows: Sequence[Row]) -> int:
    """Settle rows after the end of the lease; returns the number of changed rows.

    Safe to run twice and beside the worker: renewed leases stay, and locked rows are skipped.
    """
    known = evidence.gather(rows)
    return _settle(known.rows, known.entries) if known.rows else 0


def _settle(rows: Sequence[Row], entries: Mapping[UUID, LedgerEntry]) -> int:
    perhaps_sent = attempts.without_answer([row["id"] for row in rows])
    due_in = fair_queue.due_in(rows)
    members = {row["id"] for row in rows if row["falls_back"]}
    contacts = _contacts(rows)
    decisions: dict[UUID, Decision] = {}
    outcomes: dict[UUID, Outcome | None] = {}
    calls: dict[str, list[attempts.AttemptRow]] = defaultdict(list)
    for row in rows:
        entry = entries.get(row["id"])
        outcome = outcomes[row["id"]] = _outcome(row, entry)
        decided = _decide(row, outcome, entry, perhaps_sent=row["id"] in perhaps_sent)
        # A confirm window can be as long as RECHECK_AFTER, so the window comes after the decision.
        can_come = _receipt_can_come(row, contacts.get(row["contact_id"]))
        decision = confirm.with_window_of_row(row, decided, receipt_can_come=can_come)
        if decision.due_in == clock.AT_ONCE:
            decision = decision._replace(due_in=due_in.get(row["id"], clock.AT_ONCE))
        decisions[row["id"]] = decision
        if outcome is not None and not isinstance(outcome, NotStarted):
            calls[row["provider"]].append(_call(row, outcome, contacts.get(row["contact_id"])))

    failed = {each for each in members if decisions[each].transition.to is Status.FAILED}

    def work() -> int:
        plan = fall_back.plan(failed)
        replaced = {
            each: decision._replace(transition=FALL_BACK, reason=Reason.ESCALATED)
            for each, decision in decisions.items()
            if plan.replaces(each)
        }
        moved = transitions.write({**decisions, **replaced}.items(), STILL_DUE)
        fall_back.carry_out(plan, moved)
        _refund_caps(decisions, moved)
        paid = _settle_money(outcomes, moved)
        for provider, made in calls.items():
            _record([_with_price(each, paid) for each in made], moved, provider=provider)
        _end_contacts([row for row in rows if row["id"] in moved], outcomes)
        return len(moved)

    return db.in_transaction(work)


def _contacts(rows: Iterable[Row]) -> Mapping[int, reads.ContactState]:
    """Return the contacts of begun calls and of members of fallback chains."""
    return reads.destinations(
        row["contact_id"] for row in rows if row["falls_back"] or row["call_started_at"] is not None
    )


def _record(
    calls: Sequence[attempts.AttemptRow], moved: Collection[UUID], *, provider: str
) -> None:
    """Store calls, and events for rows in `calls` that a receipt has moved before."""
    attempts.record_in_sweep(calls, provider=provider)
    receipt_lookups.note(calls, provider=provider)
    attempts.tell(calls, moved=moved)


def _refund_caps(decisions: Mapping[UUID, Decision], moved: Collection[UUID]) -> None:
    """Refund the frequency caps of the changed rows that ended unsent."""
    frequency_caps.refund_after_commit([
        each for each in moved if decisions[each].transition.to in NEVER_SENT
    ])


def _end_contacts(rows: Iterable[Row], outcomes: Mapping[UUID, Outcome | None]) -> None:
    """End the contacts of refused calls after the commit, as the settle does."""
    ended: dict[str, list[EndedCall]] = defaultdict(list)
    for row in rows:
        outcome = outcomes[row["id"]]
        if isinstance(outcome, Rejected):
            call = EndedCall(row["contact_id"], outcome, row["call_started_at"])
            ended[row["provider"]].append(call)
    for provider, calls in ended.items():
        db.after_commit(partial(ended_contacts.record, calls, provider=provider))


def _settle_money(
    outcomes: Mapping[UUID, Outcome | None], moved: Collection[UUID]
) -> Mapping[UUID, int]:
    """Settle the reserved prices of changed rows; a call that may have sent counts as spent."""
    sent = Accepted | Unanswered
    return call_reservations.settle_rescued({
        each: None if isinstance(outcomes[each], sent) else 0 for each in sorted(moved)
    })


def _with_price(call: attempts.AttemptRow, paid: Mapping[UUID, int]) -> attempts.AttemptRow:
    """Return the call with the reserved price, which knows country and segments."""
    if call.cost_micros is None:
        return call
    return call._replace(cost_micros=paid.get(call.delivery_id, call.cost_micros))


def _outcome(row: Row, entry: LedgerEntry | None) -> Outcome | None:
    """Return the outcome of the claim's call; None if no call was begun."""
    if row["call_started_at"] is None:
        return None
    return Unanswered(code=attempts.LOST) if entry is None else entry.outcome


def _decide(
    row: Row, outcome: Outcome | None, entry: LedgerEntry | None, *, perhaps_sent: bool
) -> Decision:
    if outcome is None or isinstance(outcome, NotStarted | Unanswered):
        if row["claims"] >= POISON_AFTER:
            return _POISON
        if not isinstance(outcome, Unanswered):
            unspent = RESCUE if outcome is None else RESCUE_REFUNDED
            return Decision(transition=unspent, reason=Reason.WORKER_LOST, due_in=clock.AT_ONCE)
    return _after_call(row, outcome, entry, perhaps_sent=perhaps_sent)


def _after_call(
    row: Row, outcome: Outcome, entry: LedgerEntry | None, *, perhaps_sent: bool
) -> Decision:
    is_bound = perhaps_sent and not Priority(row["priority"]).is_urgent
    if entry is not None and evidence.may_go_on(entry) and not is_bound:
        # Another provider of the round has not been asked: `failover` would have asked it.
        return _again(row, Decision(transition=RETRY, reason=Reason.WORKER_LOST))
    decision = decide(outcome, _circumstances(row, outcome, entry, perhaps_sent=perhaps_sent))
    if isinstance(outcome, Accepted):
        decision = decision._replace(reason=Reason.ACCEPTED_BEFORE_CRASH)
    elif decision.reason == Reason.UNANSWERED:
        decision = decision._replace(reason=Reason.WORKER_LOST)
    # The wait of a retry or a resend has passed with the lease.
    if decision.transition is RETRY:
        return _again(row, decision)
    if decision.transition is LEAVE_UNANSWERED and decision.due_in == RECHECK_AFTER:
        return decision._replace(transition=RESEND, due_in=clock.AT_ONCE)
    return decision


def _again(row: Row, decision: Decision) -> Decision:
    """Return the decision to try a row again at once.

    A claim leaves out a row with the claims of a poison row, so an answered row with so many claims
    waits as a retry, which resets the claims.
    """
    is_suspect = row["claims"] >= POISON_AFTER
    transition = RETRY if is_suspect else RESCUE
    return decision._replace(transition=transition, due_in=clock.AT_ONCE)


def _circumstances(
    row: Row, outcome: Outcome, entry: LedgerEntry | None, *, perhaps_sent: bool
) -> Circumstances:
    is_probe = entry is not None and entry.is_probe
    is_one_of_many = entry is not None and entry.is_one_of_many
    # These retries keep their wait (`RETRY_REFUNDED`), which ends within the time to live.
    waits = is_probe or is_one_of_many or isinstance(outcome, Throttled)
    priority, channel = Priority(row["priority"]), Channel(row["channel"])
    provider = routing.provider_named(row["provider"])
    return Circumstances(
        channel=channel,
        priority=priority,
        repeat=provider.capabilities.repeat if provider else Repeat.VISIBLE,
        preset=retry_presets.preset_for(priority, channel, chosen=row["retry_preset"]),
        calls=row["attempts"],
        calls_counted=row["attempts"] - row["attempts_before"],
        resent=row["resent"],
        is_probe=is_probe,
        perhaps_sent=perhaps_sent,
        passed_by=entry is not None and entry.passed_by,
        in_doubt=entry is not None and entry.in_doubt,
        is_one_of_many=is_one_of_many,
        time_to_live=(row["time_to_live"] if waits else None) or _ANY_TIME_TO_LIVE,
        chance=clock.jitter(),
    )


def _receipt_can_come(row: Row, contact: reads.ContactState | None) -> bool:
    provider = routing.provider_named(row["provider"])
    return (provider is not None and provider.capabilities.gives_receipts) or (
        contact is not None and contact.sends_receipts
    )


def _call(row: Row, outcome: Outcome, to: reads.ContactState | None) -> attempts.AttemptRow:
    channel = Channel(row["channel"])
    return attempts.AttemptRow(
        delivery_id=row["id"],
        number=row["attempts"],
        outcome=type(outcome).__name__.lower(),
        code=attempts.LOST,
        detail=(outcome.message_id if isinstance(outcome, Accepted) else outcome.code)[:500],
        latency_ms=0,
        cost_micros=(
            prices.price_of(channel, provider=row["provider"])
            if isinstance(outcome, Accepted | Unanswered)
            else None
        ),
        reserved_at=row["call_started_at"],
        country=to.country_on(channel) if to else "",
    )


def resend_or_close(rows: Iterable[Row]) -> int:
    """Resend urgent `unknown` rows once; close other rows with a dead letter.

    In a fallback chain the next channel follows first.
    """
    resend, close, escalate = [], [], []
    for row in rows:
        is_resent = row["resent"] or not Priority(row["priority"]).is_urgent
        if row["falls_back"] and is_resent and row["reason"] != Reason.NOT_CONFIRMED:
            escalate.append(row)
        elif Priority(row["priority"]).is_urgent and not row["resent"]:
            resend.append(Move(id=row["id"], reason=Reason.RESENT_ONCE, due_in=clock.AT_ONCE))
        else:
            close.append(Move(id=row["id"], reason=Reason.CLOSED_UNANSWERED))
    moved = transitions.apply(RESEND, resend, STILL_DUE)
    escalated = confirm.end_windows(escalate, status=Status.UNKNOWN)
    return escalated + len(moved) + len(transitions.apply(CLOSE_UNANSWERED, close, STILL_DUE))
