"""A batch is one claim on its way through the steps of a delivery.

    claim -> Batch -> step -> step -> ... -> send

A step decides about some jobs with `Batch.decide` and leaves the other jobs. `commit` writes the
decisions, one statement for each transition, and takes the decided jobs out of the batch. Every
write is guarded by the claim's token; a row that is not written comes due when its lease ends.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

from notifications.delivery.claimed import Job
from notifications.rules import ids
from notifications.rules.outcomes import Decision
from notifications.rules.reasons import Reason
from notifications.rules.states import NEVER_SENT
from notifications.rules.transitions import SUPPRESS
from notifications.store.postgres import reads, secret_variables, transitions
from notifications.store.postgres.claims import Claim, Claimed
from notifications.store.postgres.transitions import UnderClaim
from notifications.store.rate_limits import frequency_caps

LONGEST_COUNTDOWN: Final = dt.timedelta(seconds=120)
"""A longer wait is only a row, because a countdown occupies memory in a worker and in the broker.
"""


@dataclass(frozen=True, slots=True)
class Retry:
    """One delivery that the worker publishes again after a delay."""

    delivery_id: UUID
    delay: dt.timedelta


class Decided(NamedTuple):
    """A delivery and its decision."""

    delivery: Claimed
    decision: Decision
    secrets_of: UUID | None = None
    """The notification, if its sensitive variables may now be wiped."""


@dataclass(slots=True)
class Batch:
    """The undecided jobs of one claim, and the deliveries to publish again."""

    claim: Claim
    jobs: list[Job]
    retries: list[Retry] = field(default_factory=list)
    _decided: list[Decided] = field(default_factory=list)

    @property
    def token(self) -> UUID:
        """The token that guards every write of this claim."""
        return self.claim.token

    @property
    def now(self) -> dt.datetime:
        """Postgres's clock: its time at the claim plus the time since."""
        return self.claim.now

    def decide(self, job: Job, decision: Decision) -> None:
        """Take a job out of the batch; `commit` writes the decision."""
        self._decided.append(decided(job, decision))

    def decide_orphan(self, delivery: Claimed, decision: Decision) -> None:
        """Decide about a claimed row that has no job, because its recipient was erased."""
        self._decided.append(Decided(delivery, decision))

    def commit(self) -> None:
        """Write the decisions, and note the deliveries that the worker publishes again."""
        entries, self._decided = self._decided, []
        if not entries:
            return
        gone = {each.delivery.id for each in entries}
        self.jobs = [job for job in self.jobs if job.delivery.id not in gone]
        moved = write(entries, token=self.token)
        secret_variables.wipe(secrets_to_wipe(entries))
        refund_caps(entries, moved=moved)
        self.retries += retries_of(entries, moved=moved)


_ERASED: Final = Decision(transition=SUPPRESS, reason=Reason.NO_CONTACT, detail="erased")


def load(claim: Claim) -> Batch:
    """Read the jobs of a claim in two queries; a delivery of an erased recipient is decided."""
    notification_of = {each.id: ids.notification_of(each.id) for each in claim.deliveries}
    asked = reads.asked(set(notification_of.values()))
    destinations = reads.destinations(each.contact_id for each in claim.deliveries)
    batch = Batch(claim=claim, jobs=[])
    for each in claim.deliveries:
        about, where = asked.get(notification_of[each.id]), destinations.get(each.contact_id)
        if about is None or where is None:
            batch.decide_orphan(each, _ERASED)
        else:
            batch.jobs.append(Job(delivery=each, asked=about, destination=where))
    return batch


def decided(job: Job, decision: Decision) -> Decided:
    """Pair a job with its decision."""
    secrets_of = job.asked.id if job.asked.sealed is not None else None
    return Decided(job.delivery, decision, secrets_of)


def write(entries: Iterable[Decided], *, token: UUID) -> set[UUID]:
    """Write decisions under the claim's token; returns the deliveries that moved."""
    decisions = {delivery.id: decision for delivery, decision, _ in entries}
    return transitions.write(decisions, UnderClaim(token))


def secrets_to_wipe(entries: Iterable[Decided]) -> set[UUID]:
    """Return the notifications whose sensitive variables may go: a delivery became final."""
    return {
        secrets_of
        for _, decision, secrets_of in entries
        if secrets_of is not None and decision.due_in is None
    }


def refund_caps(entries: Iterable[Decided], *, moved: Collection[UUID]) -> None:
    """Refund the frequency caps of deliveries that ended without being sent."""
    frequency_caps.refund_unsent(
        delivery
        for delivery, decision, _ in entries
        if decision.transition.to in NEVER_SENT and delivery.id in moved
    )


def retries_of(entries: Iterable[Decided], *, moved: Collection[UUID]) -> list[Retry]:
    """Return the moved rows whose wait is short enough for a countdown."""
    return [
        Retry(delivery.id, decision.republish_in)
        for delivery, decision, _ in entries
        if decision.republish_in is not None
        and decision.republish_in <= LONGEST_COUNTDOWN
        and delivery.id in moved
    ]
