"""Settle: store the outcomes of calls, many in one transaction.

`rules.outcomes` decides, and the claim's token guards every write. An acceptance after the lease
expired still counts: the row becomes `sent`, unless a receipt has come, also while another worker
repeats the call. So does an acceptance after a cancellation, an opt-out or the end of the time to
live. A refusal after the lease moves a row that the rescue has made `unknown` (`late_refusals`).
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Final, get_args
from uuid import UUID

from notifications.core import clock
from notifications.core.delivery import (
    call_log,
    call_metrics,
    call_prices,
    call_reservations,
    confirm,
    ended_contacts,
    late_refusals,
    receipt_lookups,
)
from notifications.core.delivery.batch import (
    Batch,
    DeliveryDecision,
    decisions_of,
    delivery_decision,
    members_of,
    refund_caps,
    retries_of,
    secrets_to_wipe,
    unmoved,
    write_decisions,
)
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.delivery.ended_contacts import EndedCall
from notifications.core.delivery.provider_health import NOT_BELIEVED
from notifications.core.rules import countries, prices
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode
from notifications.core.rules.outcomes import Circumstances, Decision, accepted, decide
from notifications.core.rules.rate_limits.circuit_breaker import HealthKey
from notifications.core.rules.reasons import Reason
from notifications.core.rules.redaction import redact
from notifications.core.rules.transitions import ACCEPT, REJECT
from notifications.core.store.postgres import (
    alerts,
    attempts,
    db,
    dead_contacts,
    locked_rows,
    secret_variables,
    transitions,
)
from notifications.core.store.postgres.attempts import AttemptRow
from notifications.core.store.postgres.dead_contacts import NewAddress
from notifications.core.store.postgres.transitions import Move
from providers.contract import (
    Accepted,
    Misconfigured,
    NotStarted,
    Outcome,
    Provider,
    Rejected,
    Result,
    Throttled,
    Unanswered,
    Unavailable,
)

_OUTCOMES: Final = {kind: kind.__name__.lower() for kind in get_args(Outcome)}
"""Names of the outcomes in attempts and log lines."""
_PERHAPS_SENT: Final = frozenset({Accepted, Unanswered})
"""Kinds of outcomes of calls that may have sent, and therefore cost money."""
_LONGEST_WAIT_S: Final = 2**31 - 1
"""Largest value of the column; a chat service may ask for a longer wait."""

Pair = tuple[ClaimedDelivery, Result]


def settle(batch: Batch, pairs: Sequence[Pair], *, provider: Provider) -> Sequence[Pair]:
    """Store outcomes, and add the deliveries to retry soon to `batch.retries`.

    Safe to run twice or late: a row under another claim stays unchanged.

    Returns:
        The pairs of locked rows: call again with these pairs.

    Raises:
        django.db.OperationalError: call again with the same pairs.
    """
    if not pairs:
        return ()
    decided = _decide(batch, pairs, provider)
    calls = _calls(pairs, provider)

    def write(ids: Sequence[UUID]) -> tuple[list[DeliveryDecision], set[UUID]]:
        some, made, entries = pairs, calls, decided
        if len(ids) < len(pairs):
            wanted = set(ids)
            some, entries = _only(pairs, wanted), decisions_of(wanted, decided)
            made = [each for each in calls if each.delivery_id in wanted]
        return db.in_transaction(lambda: _write(batch, some, made, entries, provider=provider))

    began = clock.monotonic()
    ids = [each.delivery.id for each in decided]
    written, locked = locked_rows.leave_out(write, ids, members=members_of(decided))
    entries, moved = written
    free, rows = _without(pairs, calls, locked)
    # A transaction that stands still locks no alert and no contact.
    _alert_if_misconfigured(free, provider)
    _end_contacts(free, provider=provider.name)
    _move_contacts(free, provider=provider.name)
    late = _settle_late(free, rows, decided, moved, provider.name)
    if late.moved:
        entries = [each for each in entries if each.delivery.id not in late.moved] + late.changed
        moved = moved | late.moved
    locked = [*locked, *late.locked]
    settled, rows = _without(pairs, calls, locked)
    call_metrics.observe_settlement(seconds=clock.monotonic() - began)
    refund_caps(entries, moved=moved)
    batch.retries += retries_of(entries, moved=moved)
    call_log.write(settled, rows, provider=provider.name)
    call_metrics.record(settled, provider=provider, now=batch.now)
    return _only(pairs, locked)


def _only(pairs: Sequence[Pair], delivery_ids: Collection[UUID]) -> Sequence[Pair]:
    wanted = set(delivery_ids)
    return [pair for pair in pairs if pair[0].delivery.id in wanted] if wanted else ()


def _without(
    pairs: Sequence[Pair], calls: Sequence[AttemptRow], delivery_ids: Collection[UUID]
) -> tuple[Sequence[Pair], Sequence[AttemptRow]]:
    """Leave out deliveries; returns the other pairs and their calls, in the same order."""
    if not delivery_ids:
        return pairs, calls
    free = [pair for pair in pairs if pair[0].delivery.id not in delivery_ids]
    return free, [each for each in calls if each.delivery_id not in delivery_ids]


def _decide(batch: Batch, pairs: Sequence[Pair], provider: Provider) -> list[DeliveryDecision]:
    now = batch.now
    perhaps_sent = _with_unanswered_call(pairs)
    decided = []
    for claimed, result in pairs:
        if isinstance(result.outcome, Accepted):
            decision = accepted(result.outcome)
        else:
            unclear = claimed.delivery.id in perhaps_sent
            known = _circumstances(claimed, provider, now, perhaps_sent=unclear)
            decision = decide(result.outcome, known)
        if claimed.delivery.falls_back:
            decision = confirm.with_window(claimed, decision, provider=provider)
        entry = delivery_decision(claimed, decision)
        if entry.secrets_of and confirm.keeps_secrets(claimed, decision, provider=provider):
            entry = entry._replace(secrets_of=None)
        decided.append(entry)
    return decided


def _settle_late(
    pairs: Sequence[Pair],
    calls: Sequence[AttemptRow],
    decided: Sequence[DeliveryDecision],
    moved: Collection[UUID],
    provider: str,
) -> late_refusals.Settled:
    """Settle the refusals after the end of the lease, of rows not moved by the claim."""
    refused = [
        call
        for (_, result), call in zip(pairs, calls, strict=True)
        if isinstance(result.outcome, late_refusals.REFUSALS) and call.delivery_id not in moved
    ]
    if not refused:
        return late_refusals.Settled([], set())
    return late_refusals.settle(decided, refused, provider=provider)


def record_calls(pairs: Sequence[Pair], *, provider: Provider) -> None:
    """Record the calls of failed-over deliveries with events, without a settlement."""
    if not pairs:
        return
    calls = _calls(pairs, provider)

    def work() -> None:
        locked_rows.lock([each.delivery_id for each in calls])  # first, as the settle does
        attempts.record_failed_over(calls, provider=provider.name)
        call_reservations.settle(pairs)

    db.in_transaction(work)
    call_log.write(pairs, calls, provider=provider.name)
    call_metrics.record(pairs, provider=provider, now=clock.now())
    _alert_if_misconfigured(pairs, provider)


def dead_letter(
    batch: Batch, deliveries: Iterable[tuple[ClaimedDelivery, str]], *, reason: Reason
) -> None:
    """Dead-letter unsendable deliveries with an explanation."""
    for claimed, why in deliveries:
        batch.decide(claimed, Decision(transition=REJECT, reason=reason, detail=redact(why)))
    batch.commit()


def _with_unanswered_call(pairs: Iterable[Pair]) -> set[UUID]:
    """Return deliveries with a failed call now and an earlier unanswered call.

    After the lease the present call has an attempt of the rescue, also without an answer.
    """
    calls = {
        claimed.delivery.id: claimed.call
        for claimed, result in pairs
        if claimed.call > 1 and isinstance(result.outcome, Throttled | Unavailable)
    }
    return attempts.without_answer(calls, before=calls) if calls else set()


def _circumstances(
    claimed: ClaimedDelivery, provider: Provider, now: dt.datetime, *, perhaps_sent: bool
) -> Circumstances:
    return Circumstances(
        channel=claimed.delivery.channel,
        priority=claimed.delivery.priority,
        repeat=provider.capabilities.repeat,
        preset=claimed.preset,
        calls=claimed.call,
        calls_counted=claimed.call - claimed.delivery.attempts_before,
        resent=claimed.delivery.resent,
        is_probe=claimed.is_probe,
        perhaps_sent=perhaps_sent,
        passed_by=claimed.passed_by,
        in_doubt=claimed.in_doubt,
        is_one_of_many=claimed.is_one_of_many,
        time_to_live=claimed.time_to_live(now),
        chance=clock.jitter(),
    )


def _write(
    batch: Batch,
    pairs: Sequence[Pair],
    calls: Sequence[AttemptRow],
    decided: list[DeliveryDecision],
    *,
    provider: Provider,
) -> tuple[list[DeliveryDecision], set[UUID]]:
    # The deliveries are locked first: the rescue skips locked deliveries, and would wait for the
    # attempts of a worker that stands still here, with all deliveries of the lane.
    entries, moved = write_decisions(decided, token=batch.token)
    calls = [each for each in calls if each.outcome != _OUTCOMES[NotStarted]]
    attempts.record(calls, provider=provider.name)
    receipt_lookups.note(calls, provider=provider.name)
    call_reservations.settle(pairs)
    stayed = unmoved(entries, moved=moved)
    late = [
        Move(
            id=delivery.id,
            reason=Reason.ACCEPTED_AFTER_LEASE,
            due_in=decision.due_in,
            provider_message_id=decision.provider_message_id,
        )
        for delivery, decision, *_ in stayed
        if decision.transition is ACCEPT
    ]
    accepted_late = _accept_late(batch, late, entries, calls, provider.name) if late else ()
    attempts.tell(calls if stayed else (), moved=moved.union(accepted_late))
    secret_variables.wipe(secrets_to_wipe(entries))
    return entries, moved


def _end_contacts(pairs: Iterable[Pair], *, provider: str) -> None:
    """Invalidate dead contacts, and suppress the addresses of opt-outs."""
    calls = [
        EndedCall(claimed.delivery.contact_id, result.outcome, claimed.delivery.claimed_at)
        for claimed, result in pairs
        if isinstance(result.outcome, Rejected)
    ]
    if calls:
        ended_contacts.record(calls, provider=provider)


def _move_contacts(pairs: Iterable[Pair], *, provider: str) -> None:
    """Store the new addresses of accepted messages."""
    moves = {
        claimed.delivery.contact_id: NewAddress(
            claimed.destination.address, result.outcome.new_address
        )
        for claimed, result in pairs
        if isinstance(result.outcome, Accepted) and result.outcome.new_address
    }
    dead_contacts.record_moves(moves, provider=provider)


def _accept_late(
    batch: Batch,
    late: Sequence[Move],
    entries: Iterable[DeliveryDecision],
    calls: Iterable[AttemptRow],
    provider: str,
) -> Collection[UUID]:
    """Store acceptances after the lease; returns the deliveries that have moved."""
    wanted = {each.id for each in late}
    attempts.answer_late([each for each in calls if each.delivery_id in wanted], provider=provider)
    numbers = {delivery.id: call for delivery, _, _, call in entries}
    return transitions.accept_late(late, calls=numbers, since=batch.claim.at)


def _alert_if_misconfigured(pairs: Sequence[Pair], provider: Provider) -> None:
    """Raise an alert about our account, except for a single endpoint or doubted rejections.

    An alert that PostgreSQL does not take fails no settle: the next refusal raises the alert.
    """
    if provider.capabilities.endpoint_of is not None:
        return
    refused = {
        claimed.delivery.channel
        for claimed, result in pairs
        if isinstance(result.outcome, Misconfigured)
        and result.outcome.detail != NOT_BELIEVED
        and claimed.delivery.mode is Mode.LIVE
    }
    detail = "it refused our credentials or account; its deliveries wait or go by another"
    for channel in sorted(refused):
        subject = HealthKey(provider.name, channel).label
        alerts.raise_after_commit(AlertKind.PROVIDER_MISCONFIGURED, subject, detail)


def _calls(pairs: Iterable[Pair], provider: Provider) -> list[AttemptRow]:
    """Return the rows of the calls, in the order of the pairs."""
    units = call_prices.Prices(provider.name)
    calls = []
    for claimed, result in pairs:
        outcome, channel, to = result.outcome, claimed.delivery.channel, claimed.destination
        wait, cost = result.retry_after, None
        if isinstance(outcome, Accepted):
            code, detail = "", outcome.message_id[:500]
        else:
            # Only a message id is safe to store: other texts of a provider may contain an address.
            code, detail = outcome.code, redact(outcome.detail)
            wait = wait or getattr(outcome, "retry_after", None)
        segments = claimed.segments and call_prices.segments_of(claimed, outcome)
        if type(outcome) in _PERHAPS_SENT:
            price = units.of(claimed, segments)
            cost = price if price or channel in prices.DEFAULTS else None
        call = AttemptRow(
            delivery_id=claimed.delivery.id,
            number=claimed.call,
            outcome=_OUTCOMES[type(outcome)],
            code=code,
            detail=detail,
            latency_ms=round(result.latency.total_seconds() * 1000),
            segments=segments,
            http_status=result.http_status,
            retry_after_s=_whole_seconds(wait) if wait else None,
            signed_with=result.signed_with,
            country=countries.of_delivery(
                channel, address=to.address, timezone=to.timezone, locale=to.locale
            ),
            cost_micros=cost,
            reserved_at=claimed.reserved_at,
        )
        calls.append(call)
    return calls


def _whole_seconds(wait: dt.timedelta) -> int:
    """Return a wait by the answer or the provider's documentation in seconds, rounded up."""
    return min(math.ceil(wait.total_seconds()), _LONGEST_WAIT_S)
