"""Gates: may a claimed delivery leave now? A gate passes it, holds it, or stops it for good.

The order is cheapest and most final first. A hold spends no attempt. What a gate asks was read at
the claim, so a preference changed while the delivery was queued counts.

A delivery that is stopped here has no successor on another channel, even where its producer asked
for the `first` that works: that choice was made at accept (for a schedule: at release). To choose
again after that is a fallback, and a producer that wants one says `fallback_chain`, which nothing
accepts yet. It is not done unasked, because what comes here may have had calls before that nobody
answered: another channel could tell the person twice. The timeline says what stopped it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Final

from notifications import conf
from notifications.pipeline import quiet
from notifications.pipeline.batch import Batch
from notifications.pipeline.job import Job
from notifications.rules import channels
from notifications.rules.lane import Mode
from notifications.rules.outcomes import Decision
from notifications.rules.reasons import Reason
from notifications.rules.transitions import CANCEL, EXPIRE, HOLD, SUPPRESS, Transition

Verdict = Decision | None
"""None lets the delivery pass."""


def run_gates(batch: Batch) -> None:
    """Stop or hold what may not leave now."""
    for job in batch.jobs:
        decision = verdict(job, now=batch.now)
        if decision is not None:
            batch.decide(job, decision)


def verdict(job: Job, *, now: dt.datetime) -> Verdict:
    """Ask the gates in their order; the first that objects decides.

    Args:
        job: the claimed delivery.
        now: Postgres's clock at the claim. A worker's own clock may be wrong, and an OTP must not
            expire by it.
    """
    for gate in GATES:
        objection = gate(job, now)
        if objection is not None:
            return objection
    return None


def _stop(transition: Transition, reason: Reason) -> Decision:
    return Decision(transition=transition, reason=reason)


def _cancelled(job: Job, _now: dt.datetime) -> Verdict:
    return _stop(CANCEL, Reason.CANCELLED) if job.asked.is_cancelled else None


def _expiry(job: Job, now: dt.datetime) -> Verdict:
    if job.asked.expires_at > now:
        return None
    held_by = quiet.reason_at(job, job.asked.expires_at)
    return _stop(EXPIRE, _EXPIRED_DURING[held_by] if held_by else Reason.TTL_PASSED)


def _allowed(job: Job, _now: dt.datetime) -> Verdict:
    """Stop a recipient who is not in NOTIFY_ALLOWED_RECIPIENTS; test mode reaches no person."""
    allowed = conf.current().allowed
    if allowed is None or job.delivery.mode is Mode.TEST:
        return None
    reachable = allowed.allows(user_id=job.asked.user_id, address=job.destination.address)
    return None if reachable else _stop(SUPPRESS, Reason.NOT_ALLOWED)


def _consent(job: Job, _now: dt.datetime) -> Verdict:
    """Stop a channel that is off, and an opted-out category or type except for P0."""
    stops = job.delivery.channel in job.destination.channels_off or channels.declines(
        job.destination.categories_off,
        topics=(job.asked.category, job.asked.type),
        priority=job.delivery.priority,
    )
    return _stop(SUPPRESS, Reason.OPTED_OUT) if stops else None


def _contact(job: Job, _now: dt.datetime) -> Verdict:
    return None if job.destination.is_valid else _stop(SUPPRESS, Reason.NO_CONTACT)


def _quiet(job: Job, now: dt.datetime) -> Verdict:
    """Hold during quiet hours and do-not-disturb, by the recipient's clock."""
    hold = quiet.wait_of(job, now=now)
    if hold is None:
        return None
    wait, reason = hold
    return Decision(transition=HOLD, reason=reason, due_in=wait, republish_in=wait)


def _suppression(job: Job, _now: dt.datetime) -> Verdict:
    """Stop an address on the suppression list, whatever the priority."""
    listed = job.destination.is_suppressed
    return _stop(SUPPRESS, Reason.SUPPRESSION_LIST) if listed else None


def _ordering(job: Job, now: dt.datetime) -> Verdict:
    """Runs last: a delivery that another gate stops must not block its ordering key."""
    if not job.waits_for_turn:
        return None
    # Whoever goes first wakes it. By itself it is due only when its time to live ends.
    return Decision(transition=HOLD, reason=Reason.ORDERING, due_in=job.asked.expires_at - now)


_EXPIRED_DURING: Final = {
    Reason.DO_NOT_DISTURB: Reason.TTL_PASSED_IN_DO_NOT_DISTURB,
    Reason.QUIET_HOURS: Reason.TTL_PASSED_IN_QUIET_HOURS,
    Reason.PRODUCERS_NIGHT: Reason.TTL_PASSED_IN_PRODUCERS_NIGHT,
}

Gate = Callable[[Job, dt.datetime], Verdict]

GATES: Final[Sequence[Gate]] = (
    _cancelled,
    _expiry,
    _allowed,
    _consent,
    _contact,
    _suppression,
    _quiet,
    _ordering,
)
"""In calling order."""
