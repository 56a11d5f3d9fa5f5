"""Settle: what became of each call, in one transaction for many.

    Accepted       sent
    Throttled      retrying, after the provider's wait or the policy's
    Unavailable    retrying, the same
    NotStarted     retrying, the same
    Rejected       failed, with a dead letter; a dead address is not used again
    Misconfigured  held: our fault must not burn the backlog; an alert is raised
    Unanswered     the table of `rules.unanswered`: resend, wait, or ask again once

Everything is guarded by the claim's token. An acceptance that comes after the lease was lost is
still evidence: the row is settled as sent if nobody else is sending it at this moment.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, assert_never
from uuid import UUID

from notifications import clock, conf, telemetry
from notifications.pipeline import cap
from notifications.pipeline.job import Job
from notifications.rules import retries, unanswered
from notifications.rules.lane import Mode
from notifications.rules.redaction import address_hash, redacted
from notifications.rules.states import Status
from notifications.rules.unanswered import Answer
from notifications.store import alerts, attempts, contacts, db, moves, vault
from notifications.store.moves import Move
from providers.contract import (
    Accepted,
    Misconfigured,
    NotStarted,
    Provider,
    Rejected,
    Repeat,
    Result,
    Throttled,
    Unanswered,
    Unavailable,
)

HOLD_FOR_PROVIDER: Final = dt.timedelta(seconds=30)
"""How long a row waits for a provider that is misconfigured or missing before it looks again."""
_FINEST: Final = 0.25
"""Seconds: retries that lie closer together than this share a message."""
_STEPS_PER_DOUBLING: Final = 4
_LONGEST_WAIT_S: Final = 2**31 - 1
"""What the column holds; a chat service may ask for more."""


@dataclass(frozen=True, slots=True)
class Retry:
    """One delivery to be published again after a wait."""

    delivery_id: UUID
    delay: dt.timedelta


@dataclass(slots=True)
class _Decided:
    """What a batch of outcomes comes to: moves by what they have in common."""

    sent: list[Move] = field(default_factory=list)
    retrying: list[Move] = field(default_factory=list)
    held: list[Move] = field(default_factory=list)
    dead: list[Move] = field(default_factory=list)
    dropped: list[Move] = field(default_factory=list)
    unknown: list[Move] = field(default_factory=list)
    dead_contacts: dict[int, str] = field(default_factory=dict)
    retries: list[Retry] = field(default_factory=list)
    failed: set[UUID] = field(default_factory=set)
    """Those of the dead and dropped that were still ours."""


def settle(pairs: Sequence[tuple[Job, Result]], *, provider: Provider, token: UUID) -> list[Retry]:
    """Settle outcomes; returns what is to be tried again soon, already committed as such.

    Safe to run late: a row that is not ours any more stays as it is.
    """
    if not pairs:
        return []
    decided = _Decided()
    now = clock.now()
    for job, result in pairs:
        _decide(decided, job, result, provider=provider, now=now)
    late = db.in_transaction(lambda: _write(decided, pairs, provider=provider, token=token))
    cap.refund((job.delivery for job, _ in pairs), moved=decided.failed)
    _log_calls(pairs, provider)
    moved_on = set(late)
    return [retry for retry in decided.retries if retry.delivery_id not in moved_on]


def note(pairs: Sequence[tuple[Job, Result]], *, provider: Provider) -> None:
    """Write down calls that settle nothing: another provider is asked at once."""
    if not pairs:
        return
    attempts.record([_call(job, result) for job, result in pairs], provider=provider.name)
    _log_calls(pairs, provider)
    _alert_if_misconfigured(pairs, provider)


def give_up(jobs: Iterable[tuple[Job, str]], *, reason: str, token: UUID) -> None:
    """Dead-letter jobs that cannot be sent at all, each with its own sentence."""
    lost = list(jobs)
    dead = [Move(id=job.delivery.id, reason=reason, detail=redacted(why)) for job, why in lost]
    moved = moves.move(Status.FAILED, dead, token=token, buries=True)
    cap.refund((job.delivery for job, _ in lost), moved=moved)


def _decide(
    decided: _Decided, job: Job, result: Result, *, provider: Provider, now: dt.datetime
) -> None:
    delivery_id, outcome = job.delivery.id, result.outcome
    match outcome:
        case Accepted(message_id=message_id):
            decided.sent.append(Move(id=delivery_id, provider_message_id=message_id))
        case Throttled(retry_after=wait) | Unavailable(retry_after=wait):
            why = f"{_name(outcome)}: {outcome.code}"
            _try_again(decided, job, why=why, retry_after=wait, now=now)
        case NotStarted():
            _try_again(decided, job, why=_name(outcome), retry_after=None, now=now)
        case Rejected():
            detail = redacted(outcome.detail)
            decided.dead.append(Move(id=delivery_id, reason="permanent", detail=detail))
            if outcome.contact_is_dead:
                decided.dead_contacts[job.delivery.contact_id] = f"{provider.name}: {outcome.code}"
        case Misconfigured():
            reason = "provider_misconfigured"
            hold = Move(id=delivery_id, reason=reason, due_in=HOLD_FOR_PROVIDER)
            decided.held.append(hold)
            decided.retries.append(Retry(delivery_id, HOLD_FOR_PROVIDER))
        case Unanswered():
            _after_silence(decided, job, repeat=provider.capabilities.repeat, now=now)
        case _:
            assert_never(outcome)


def _try_again(
    decided: _Decided, job: Job, *, why: str, retry_after: dt.timedelta | None, now: dt.datetime
) -> None:
    preset = job.preset
    then = retries.next_try(
        preset,
        calls_made=job.call - job.delivery.attempts_before,
        chance=clock.jitter(),
        retry_after=retry_after,
        time_to_live=job.time_to_live(now),
    )
    if isinstance(then, retries.Again):
        delay = rounded_up(then.delay)
        decided.retrying.append(Move(id=job.delivery.id, reason=why[:64], due_in=delay))
        decided.retries.append(Retry(job.delivery.id, delay))
    else:
        pile = decided.dropped if preset.drops else decided.dead
        pile.append(Move(id=job.delivery.id, reason=then.value, detail=why))


def _after_silence(decided: _Decided, job: Job, *, repeat: Repeat, now: dt.datetime) -> None:
    delivery = job.delivery
    answer = unanswered.answer_for(
        channel=delivery.channel, priority=delivery.priority, repeat=repeat
    )
    match answer:
        case Answer.RESEND:
            _try_again(decided, job, why="unanswered", retry_after=None, now=now)
        case Answer.RESEND_ONCE:
            wait = unanswered.CLOSE_AFTER if delivery.resent else unanswered.RECHECK_AFTER
            decided.unknown.append(Move(id=delivery.id, reason="unanswered", due_in=wait))
        case Answer.WAIT:
            wait = unanswered.CLOSE_AFTER
            decided.unknown.append(Move(id=delivery.id, reason="unanswered", due_in=wait))
        case _:
            assert_never(answer)


def _write(
    decided: _Decided, pairs: Sequence[tuple[Job, Result]], *, provider: Provider, token: UUID
) -> list[UUID]:
    """Write it all; returns the deliveries to be tried again that are not ours any more."""
    attempts.record([_call(job, result) for job, result in pairs], provider=provider.name)
    sent = moves.move(Status.SENT, decided.sent, token=token)
    if len(sent) < len(decided.sent):
        known = set(sent)
        late = [
            Move(
                id=each.id,
                reason="accepted_after_lease",
                provider_message_id=each.provider_message_id,
            )
            for each in decided.sent
            if each.id not in known
        ]
        moves.accept_late(late)
    again = moves.move(Status.RETRYING, decided.retrying, token=token)
    again += moves.move(Status.SCHEDULED, decided.held, token=token, refunds_attempt=True)
    failed = moves.move(Status.FAILED, decided.dead, token=token, buries=True)
    decided.failed = {*failed, *moves.move(Status.FAILED, decided.dropped, token=token)}
    moves.move(Status.UNKNOWN, decided.unknown, token=token)
    if decided.dead_contacts:
        contacts.invalidate(decided.dead_contacts, provider=provider.name)
    if decided.held:
        _alert_if_misconfigured(pairs, provider)
    vault.wipe({job.asked.id for job, _ in pairs if job.asked.sealed is not None})
    ours = set(again)
    return [retry.delivery_id for retry in decided.retries if retry.delivery_id not in ours]


def _alert_if_misconfigured(pairs: Sequence[tuple[Job, Result]], provider: Provider) -> None:
    refused = any(isinstance(result.outcome, Misconfigured) for _, result in pairs)
    if refused and pairs[0][0].delivery.mode is Mode.LIVE:
        detail = "it refused our credentials or account; its deliveries wait or go by another"
        alerts.raise_once("provider_misconfigured", provider.name, detail)


def rounded_up(delay: dt.timedelta) -> dt.timedelta:
    """Put a delay on a grid of four steps a doubling: a thousand retries share a few messages."""
    step, seconds = _FINEST, delay.total_seconds()
    while step * 2 * _STEPS_PER_DOUBLING <= seconds:
        step *= 2
    return dt.timedelta(seconds=-(-seconds // step) * step)


def grouped(again: Iterable[Retry]) -> dict[dt.timedelta, list[UUID]]:
    """Retries by their delay: one message each."""
    groups: dict[dt.timedelta, list[UUID]] = defaultdict(list)
    for retry in again:
        groups[retry.delay].append(retry.delivery_id)
    return groups


def _name(outcome: object) -> str:
    return type(outcome).__name__.lower()


def _call(job: Job, result: Result) -> attempts.Call:
    outcome = result.outcome
    said = (
        ("", outcome.message_id)
        if isinstance(outcome, Accepted)
        else (outcome.code, outcome.detail)
    )
    return attempts.Call(
        delivery_id=job.delivery.id,
        number=job.call,
        outcome=_name(outcome),
        code=said[0],
        # A message id is the provider's own word and no address; anything else may quote one.
        detail=said[1][:500] if isinstance(outcome, Accepted) else redacted(said[1]),
        latency_ms=_milliseconds(result.latency),
        segments=job.segments,
        http_status=result.http_status,
        retry_after_s=_asked_wait_s(result),
        signed_with=result.signed_with,
    )


def _log_calls(pairs: Sequence[tuple[Job, Result]], provider: Provider) -> None:
    hash_key = conf.current().hash_key
    telemetry.write_calls([_line(job, result, provider, hash_key) for job, result in pairs])


def _line(job: Job, result: Result, provider: Provider, hash_key: bytes) -> dict[str, object]:
    delivery, asked = job.delivery, job.asked
    return {
        "address_hash": address_hash(job.destination.address, key=hash_key),
        "attempt": job.call,
        "channel": delivery.channel.label,
        "code": getattr(result.outcome, "code", ""),
        "delivery_id": delivery.id,
        "http_status": result.http_status,
        "latency_ms": _milliseconds(result.latency),
        "mode": delivery.mode.label,
        "notification_id": asked.id,
        "outcome": _name(result.outcome),
        "priority": delivery.priority.name,
        "producer_id": asked.producer_id,
        "provider": provider.name,
        "retry_after_s": _asked_wait_s(result),
        "signed_with": result.signed_with,
        "trace_id": asked.traceparent[3:35],
        "type": asked.type,
    }


def _asked_wait_s(result: Result) -> int | None:
    """Seconds that the answer asked to wait, or the provider's documents do; rounded up."""
    wait = result.retry_after or getattr(result.outcome, "retry_after", None)
    return min(math.ceil(wait.total_seconds()), _LONGEST_WAIT_S) if wait else None


def _milliseconds(latency: dt.timedelta) -> int:
    return round(latency.total_seconds() * 1000)
