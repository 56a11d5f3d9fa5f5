"""Deliver: the body of a channel task, from a list of ids or a lane to stored outcomes.

    claim -> load -> gates -> caps -> route -> admit -> (render -> send -> settle) in waves
                                        ^       |        '-> fail over: the next provider
                                        '-------'----------'

Two tasks may name the same delivery: only one task claims the row. The leases of a killed task
expire. A task that raises an error returns the rows without a provider call to the queue;
`lane_pauses` judges whether the error is one of the lane or of a row.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import InterfaceError, OperationalError, ProgrammingError

from notifications.core import clock, stopping
from notifications.core.delivery import (
    admission,
    fall_back,
    frequency_caps,
    gates,
    lane_claims,
    lane_pauses,
    routing,
    send,
    switches,
    unclaimed,
)
from notifications.core.delivery.batch import Batch, Retry, load
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.gate import Place, function_at
from notifications.core.rules import suspects
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import PACE, Lane, Mode
from notifications.core.rules.outcomes import HOLD_FOR_PROVIDER, Decision
from notifications.core.rules.reasons import Reason
from notifications.core.rules.suspects import POISON_AFTER, Verdict
from notifications.core.rules.transitions import HOLD, RETURN, RETURN_SUSPECT, Transition
from notifications.core.store.postgres import (
    alerts,
    claims,
    db,
    locked_rows,
    ordering_queues,
    transitions,
)
from notifications.core.store.postgres.claims import Claim, Claimed
from notifications.core.store.postgres.id_ranges import Span
from notifications.core.store.postgres.ordering_queues import Queue
from notifications.core.store.postgres.transitions import Move, UnderClaim

_RETURN_FOR: Final = dt.timedelta(seconds=5)
"""Wait of a row after its task raised an error, so that the error does not repeat at once."""

_LOCKED_FOR: Final = dt.timedelta(seconds=1)
"""Wait of a row that another transaction had locked at the claim."""

Step = Callable[[Batch], None]
STEPS: Final[Sequence[Step]] = (
    gates.run_gates,
    switches.apply_switches,
    *function_at(Place.BUDGET),
    *function_at(Place.SMS_CEILING),
    frequency_caps.apply_caps,
    routing.choose_providers,
)
"""The steps before the provider call, in order. The decisions of a step are committed before the
next step runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryGroup:
    """Deliveries to publish in one message. If publishing fails, the rows come due in Postgres."""

    delivery_ids: list[UUID]
    countdown: dt.timedelta


def deliver(delivery_ids: Sequence[UUID], *, lane: str = "") -> list[RetryGroup]:
    """Claim and deliver rows; returns the deliveries to publish again soon.

    Safe to run twice, late, or never (see `sweeps`).

    Args:
        delivery_ids: rows of one lane.
        lane: the name of their lane. Without the name a pause of the lane is not seen.

    Raises:
        OperationalError: the database failed. Rows without a provider call are queued again.
        InterfaceError: as OperationalError.
        ProgrammingError: the statement of the claim failed, which pauses the lane.
        Exception: a step failed. Rows without a provider call are queued again, alone or as
            suspects.
    """
    admitted = lane_pauses.admit(lane, delivery_ids)
    if not admitted:
        return []
    with _pausing(lane):
        claim = claims.claim(admitted, now=clock.now())
    locked = [Retry(each, _LOCKED_FOR) for each in claim.locked]
    return group_retries(_deliver_claim(claim) + locked)


def deliver_due(lane: Lane, span: Span, *, rows: int) -> list[RetryGroup]:
    """Claim and deliver up to `rows` due rows of a P2 or P3 lane.

    Suspects go in claims of their own, one after another, which begin within the time of the
    priority (`rules.lane.PACE`). Safe to run twice, late, or never.

    Args:
        lane: the lane.
        span: the range of the ids.
        rows: the most rows.

    Raises:
        Exception: as `deliver`.
    """
    left, leaves_rows = lane_pauses.admit_rows(lane.name, rows), True
    retries: list[Retry] = []
    ends_at = clock.steady() + PACE[lane.priority].begin_within.total_seconds()
    while left > 0 and leaves_rows and clock.steady() < ends_at and not stopping.is_stopping():
        with _pausing(lane.name):
            taken = lane_claims.claim(lane, span, rows=left, now=clock.now())
        count = len(taken.claim.deliveries)
        left, leaves_rows = left - count, taken.leaves_rows and count > 0
        try:
            retries += _deliver_claim(taken.claim)
        finally:
            taken.end_over()
    return group_retries(retries)


@contextmanager
def _pausing(lane: str) -> Iterator[None]:
    """Pause the lane if the statement of the claim fails.

    Raises:
        ProgrammingError: the statement failed.
    """
    try:
        yield
    except ProgrammingError as error:
        lane_pauses.note_failure(lane, error, ())
        raise


def _deliver_claim(claim: Claim) -> list[Retry]:
    """Deliver claimed rows; returns the deliveries to publish again soon.

    Raises:
        OperationalError: as `deliver`.
        InterfaceError: as `deliver`.
    """
    if not claim.deliveries:
        return []
    try:
        retries = _run_steps(load(claim))
    except (OperationalError, InterfaceError):
        _return_claim(claim, RETURN, Reason.CLAIM_RETURNED, due_in=_RETURN_FOR)
        raise
    except Exception as error:
        # Rows without a call must not wait for the end of their lease.
        _return_failed(claim, error)
        raise
    lane_pauses.note_success(_lane_of(claim))
    return retries


def _run_steps(batch: Batch) -> list[Retry]:
    batch.commit()
    queues = _mark_waiting(batch.deliveries)
    fall_back.mark_members(batch.deliveries)
    for step in STEPS:
        step(batch)
        batch.commit()
    with ExitStack() as at_end:
        while batch.deliveries:
            _send_by_first_provider(batch, at_end)
    return batch.retries + _publish_next_heads(queues)


def _send_by_first_provider(batch: Batch, at_end: ExitStack) -> None:
    """Send deliveries by the first provider; failed-over deliveries stay in the batch."""
    routed: list[admission.Routed] = []
    for name, together in _by_provider(batch.deliveries).items():
        provider = routing.provider_named(name)
        if provider is None:
            _hold_without_provider(batch, together)
        else:
            routed.append((provider, together))
    batch.commit()
    going, onward = admission.admit(batch, routed)
    leaving = [claimed for _, together in going for claimed in together]
    frequency_caps.renew(leaving, claimed_at=batch.claim.at)
    for provider, together in going:
        send.send(batch, together, provider=provider, at_end=at_end)
        onward += [each for each in together if each.providers[0] != provider.name]
    batch.deliveries = onward


def _by_provider(deliveries: Iterable[ClaimedDelivery]) -> dict[str, list[ClaimedDelivery]]:
    by_provider: dict[str, list[ClaimedDelivery]] = defaultdict(list)
    for each in deliveries:
        by_provider[each.providers[0] if each.providers else ""].append(each)
    return by_provider


def _hold_without_provider(batch: Batch, deliveries: Sequence[ClaimedDelivery]) -> None:
    is_live = deliveries[0].delivery.mode is Mode.LIVE
    if is_live:
        channel = deliveries[0].delivery.channel.label
        alerts.raise_once(AlertKind.NO_PROVIDER, channel, routing.why_none(deliveries[0]))
    for each in deliveries:
        wait = HOLD_FOR_PROVIDER * (1 + clock.jitter())
        held = Decision(
            transition=HOLD,
            reason=Reason.NO_PROVIDER,
            detail=routing.why_none(each) if is_live else "",
            due_in=wait,
            republish_in=wait if each.delivery.priority.is_urgent else None,
        )
        batch.decide(each, held)


def _return_failed(claim: Claim, error: Exception) -> None:
    """Queue the rows of a claim after an error of the task; a suspect may end as a dead letter."""
    ids = [each.id for each in claim.deliveries]
    match lane_pauses.note_failure(_lane_of(claim), error, ids):
        case Verdict.LANE:
            _return_claim(claim, RETURN, Reason.TASK_FAILED, due_in=_RETURN_FOR)
        case Verdict.TOGETHER:
            _return_claim(claim, RETURN, Reason.TASK_FAILED, due_in=clock.AT_ONCE)
        case Verdict.SUSPECT:
            db.in_transaction(lambda: _return_suspect(claim, claim.deliveries[0], error))


def _return_suspect(claim: Claim, suspect: Claimed, error: Exception) -> None:
    wait = suspects.wait(suspect.claims)
    returned = _return_claim(claim, RETURN_SUSPECT, Reason.TASK_FAILED, due_in=wait)
    if suspect.claims >= POISON_AFTER:
        detail = f"{unclaimed.FIVE_CLAIMS}; the last task raised {type(error).__name__}"
        unclaimed.give_up(returned, detail=detail)


def _return_claim(
    claim: Claim, transition: Transition, reason: Reason, *, due_in: dt.timedelta
) -> list[UUID]:
    """Queue the rows of a claim that had no provider call. On failure, the leases expire."""
    guard = UnderClaim(claim.token, only_uncalled=True)

    def write(ids: Sequence[UUID]) -> list[UUID]:
        moves = [Move(id=each, reason=reason, due_in=due_in) for each in ids]
        return transitions.apply(transition, moves, guard)

    returned, _ = locked_rows.leave_out(write, [each.id for each in claim.deliveries])
    return returned


def _lane_of(claim: Claim) -> str:
    row = claim.deliveries[0]
    return Lane(row.mode, row.priority, row.channel).name


def group_retries(retries: Iterable[Retry]) -> list[RetryGroup]:
    """Group deliveries by delay, for a message each."""
    groups: dict[dt.timedelta, list[UUID]] = defaultdict(list)
    for each in retries:
        groups[each.delay].append(each.delivery_id)
    return [RetryGroup(delivery_ids=ids, countdown=delay) for delay, ids in groups.items()]


def _mark_waiting(deliveries: Sequence[ClaimedDelivery]) -> Mapping[UUID, Queue]:
    """Mark deliveries behind the head of a queue; returns the queues of all ordered deliveries.

    Deliveries with the same ordering key and channel leave one after another: accept inserts them
    into the ordering queue, in the transaction of the insert, and the last gate holds the marked
    deliveries.

    Provider calls follow the order of acceptance; a retry keeps its position. A head leaves the
    queue early if the outcome is unknown, or after a hold of more than a minute; the timeline shows
    the reason, and the message may arrive late. A cancelled, expired or dead head leaves the queue
    at once, and a replay gets no position.
    """
    ordered = [claimed for claimed in deliveries if claimed.notification.ordering_key]
    if not ordered:
        return {}
    queues = ordering_queues.queues_of([claimed.delivery.id for claimed in ordered])
    heads, _ = ordering_queues.advance(queues.values())
    for claimed in ordered:
        claimed.waits_for_turn = claimed.delivery.id in queues and claimed.delivery.id not in heads
    return queues


def _publish_next_heads(queues: Mapping[UUID, Queue]) -> list[Retry]:
    """Publish the next heads after a claim's commit. Safe to run late or never.

    A waiting delivery comes due only when its time to live ends. The sweep `ordering` publishes the
    next head within seconds if a worker did not.
    """
    if not queues:
        return []
    # Runs after the commit: if two workers finish and hold deliveries of a key at the same time,
    # at least the later one sees the other's changes.
    _, woken = ordering_queues.advance(queues.values())
    return [Retry(each, clock.AT_ONCE) for each in woken]
