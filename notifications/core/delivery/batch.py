"""Batch: the deliveries of one claim, on their way through the delivery steps.

    claim -> Batch -> step -> step -> ... -> send

A step calls `Batch.decide` for some deliveries and leaves the rest. `commit` stores the decisions,
with one statement for each transition, and removes decided deliveries from the batch. The claim's
token guards every write. A row without a decision comes due when its lease ends.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

from notifications.core import clock
from notifications.core.delivery import fall_back
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules import fallback, ids
from notifications.core.rules.fallback import CallHistory
from notifications.core.rules.outcomes import Decision
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import NEVER_SENT, Status
from notifications.core.rules.transitions import FALL_BACK, FALL_BACK_UNANSWERED, SUPPRESS
from notifications.core.store.postgres import (
    attempts,
    db,
    locked_rows,
    reads,
    secret_variables,
    transitions,
)
from notifications.core.store.postgres.claims import Claim, Claimed
from notifications.core.store.postgres.transitions import UnderClaim
from notifications.core.store.rate_limits import frequency_caps

LONGEST_COUNTDOWN: Final = dt.timedelta(seconds=120)
"""Longest wait for which a message is published. A longer wait is stored in the row alone, because
a countdown occupies memory in a worker and in the broker."""


@dataclass(frozen=True, slots=True)
class Retry:
    """A delivery that the worker publishes again after a delay."""

    delivery_id: UUID
    delay: dt.timedelta


class DeliveryDecision(NamedTuple):
    """A delivery with a decision."""

    delivery: Claimed
    decision: Decision
    secrets_of: UUID | None = None
    """The notification whose sensitive variables may now be wiped, if any."""
    call: int = 0
    """Number of the last provider call under the claim; 0 without a call."""


@dataclass(slots=True)
class Batch:
    """The undecided deliveries of one claim, and the deliveries to publish again."""

    claim: Claim
    deliveries: list[ClaimedDelivery]
    retries: list[Retry] = field(default_factory=list)
    _decided: list[DeliveryDecision] = field(default_factory=list)

    @property
    def token(self) -> UUID:
        """The claim's token, which guards every write."""
        return self.claim.token

    @property
    def now(self) -> dt.datetime:
        """The current time by Postgres's clock."""
        return self.claim.now

    def decide(self, claimed: ClaimedDelivery, decision: Decision) -> None:
        """Remove a delivery from the batch; `commit` stores the decision."""
        self._decided.append(delivery_decision(claimed, decision))

    def decide_orphan(self, delivery: Claimed, decision: Decision) -> None:
        """Decide about a claimed row of an erased recipient."""
        self._decided.append(DeliveryDecision(delivery, decision))

    def leave(self, delivery_ids: Collection[UUID]) -> None:
        """Remove deliveries after a change of status by the caller."""
        self.deliveries = [each for each in self.deliveries if each.delivery.id not in delivery_ids]

    def commit(self) -> None:
        """Store the decisions, and add the deliveries to publish again to `retries`.

        A locked row stays leased, and comes due at the end of the lease.
        """
        entries, self._decided = self._decided, []
        if not entries:
            return
        gone = {each.delivery.id for each in entries}
        self.deliveries = [
            claimed for claimed in self.deliveries if claimed.delivery.id not in gone
        ]
        written, _ = locked_rows.leave_out(
            lambda ids: write_decisions(decisions_of(ids, entries), token=self.token),
            [each.delivery.id for each in entries],
            members=members_of(entries),
        )
        entries, moved = written
        secret_variables.wipe(secrets_to_wipe(entries))
        refund_caps(entries, moved=moved)
        self.retries += retries_of(entries, moved=moved)


def members_of(entries: Iterable[DeliveryDecision]) -> list[UUID]:
    """Return the members of fallback chains."""
    return [each.delivery.id for each in entries if each.delivery.falls_back]


def decisions_of(
    ids: Collection[UUID], entries: Iterable[DeliveryDecision]
) -> list[DeliveryDecision]:
    """Return the decisions about some of the deliveries."""
    wanted = set(ids)
    return [each for each in entries if each.delivery.id in wanted]


_ERASED: Final = Decision(transition=SUPPRESS, reason=Reason.NO_CONTACT, detail="erased")


def load(claim: Claim) -> Batch:
    """Read the notifications and contacts of a claim in two queries.

    Deliveries of erased recipients are decided at once.
    """
    numbers = ids.notification_numbers([each.id for each in claim.deliveries])
    notifications = reads.notifications([UUID(int=number) for number in set(numbers)])
    destinations = reads.destinations([each.contact_id for each in claim.deliveries])
    batch = Batch(claim=claim, deliveries=[])
    for each, number in zip(claim.deliveries, numbers, strict=True):
        notification = notifications.get(number)
        where = destinations.get(each.contact_id)
        if notification is None or where is None:
            batch.decide_orphan(each, _ERASED)
        else:
            batch.deliveries.append(
                ClaimedDelivery(delivery=each, notification=notification, destination=where)
            )
    return batch


def delivery_decision(claimed: ClaimedDelivery, decision: Decision) -> DeliveryDecision:
    """Pair a delivery with a decision."""
    secrets_of = claimed.notification.id if claimed.notification.sealed is not None else None
    return DeliveryDecision(claimed.delivery, decision, secrets_of, claimed.call)


def write_decisions(
    entries: list[DeliveryDecision], *, token: UUID
) -> tuple[list[DeliveryDecision], set[UUID]]:
    """Store decisions under the claim's token.

    Returns:
        The decisions, with those that a fallback chain has replaced, and the ids of changed rows.
    """
    triggered = _find_triggers(entries)
    if not triggered:
        return entries, _write(entries, token=token)

    def work() -> tuple[list[DeliveryDecision], set[UUID]]:
        made = fall_back.plan(triggered)
        final = [
            each._replace(decision=_in_chain(each.decision))
            if made.replaces(each.delivery.id)
            else each
            for each in entries
        ]
        moved = _write(final, token=token)
        fall_back.carry_out(made, moved)
        return final, moved

    return db.in_transaction(work)


def _write(entries: Iterable[DeliveryDecision], *, token: UUID) -> set[UUID]:
    # An adapter may give two results of a call: the last decision about a delivery counts.
    last = {each.delivery.id.int: each for each in entries}
    decisions = [(each.delivery.id, each.decision) for each in last.values()]
    return transitions.write(decisions, UnderClaim(token))


def _find_triggers(entries: Iterable[DeliveryDecision]) -> set[UUID]:
    """Return the members of fallback chains with a decision for the next channel."""
    members = [each for each in entries if each.delivery.falls_back]
    if not members:
        return set()
    retries = [
        each.delivery.id for each in members if each.decision.transition.to is Status.RETRYING
    ]
    began = attempts.first_began(retries) if retries else {}
    now = clock.now()
    return {
        each.delivery.id
        for each in members
        if fallback.asks_for_next(
            each.decision,
            priority=each.delivery.priority,
            call=CallHistory(
                counted=each.call - each.delivery.attempts_before,
                first_began=now - began.get(each.delivery.id, now),
            ),
        )
    }


def _in_chain(decision: Decision) -> Decision:
    """Return the decision about a delivery replaced by another channel."""
    match decision.transition.to:
        case Status.SUPPRESSED:
            return decision
        case Status.UNKNOWN:
            return Decision(transition=FALL_BACK_UNANSWERED, reason=Reason.UNCONFIRMED)
        case _:
            detail = ": ".join(part for part in (decision.reason, decision.detail) if part)
            return Decision(transition=FALL_BACK, reason=Reason.ESCALATED, detail=detail)


def secrets_to_wipe(entries: Iterable[DeliveryDecision]) -> set[UUID]:
    """Return notifications with sensitive variables and a final decision about a delivery."""
    return {
        secrets_of
        for _, decision, secrets_of, _ in entries
        if secrets_of is not None and decision.due_in is None
    }


def unmoved(
    entries: Sequence[DeliveryDecision], *, moved: Collection[UUID]
) -> Sequence[DeliveryDecision]:
    """Return the decisions that changed no row, given the ids of all changed rows."""
    if len(moved) == len(entries):
        return ()
    return [each for each in entries if each.delivery.id not in moved]


def refund_caps(entries: Sequence[DeliveryDecision], *, moved: Collection[UUID]) -> None:
    """Refund the frequency caps of deliveries that ended unsent.

    A delivery under another claim may have ended before the count. Postgres decides about the
    refund.
    """
    ended = [each for each in entries if each.decision.transition.to in NEVER_SENT]
    ended += unmoved(entries, moved=moved)
    frequency_caps.refund_unsent([each.delivery for each in ended])


def retries_of(entries: Iterable[DeliveryDecision], *, moved: Collection[UUID]) -> list[Retry]:
    """Return the changed rows with a wait short enough for a countdown."""
    return [
        Retry(delivery.id, decision.republish_in)
        for delivery, decision, *_ in entries
        if decision.republish_in is not None
        and decision.republish_in <= LONGEST_COUNTDOWN
        and delivery.id in moved
    ]
