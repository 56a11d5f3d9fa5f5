"""Gates: may a claimed delivery leave now? Each says Pass, Hold until later, or Stop for good.

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
from dataclasses import dataclass
from typing import Final

from notifications import conf
from notifications.pipeline import quiet
from notifications.pipeline.job import Job
from notifications.rules import channels, order
from notifications.rules.channels import Stop as Reason
from notifications.rules.lane import Mode
from notifications.rules.states import Status

ORDER: Final = "order"
"""The hold's reason: others of its line go first. They wake it, so it is not published again."""


@dataclass(frozen=True, slots=True)
class Stop:
    """It will never leave; the row becomes final."""

    status: Status
    reason: str


@dataclass(frozen=True, slots=True)
class Hold:
    """It may leave later; the row waits without spending an attempt."""

    delay: dt.timedelta
    reason: str


Verdict = Stop | Hold | None
"""None lets it pass."""


def verdict(job: Job, *, now: dt.datetime) -> Verdict:
    """What the first gate that objects says of this job."""
    for gate in GATES:
        objection = gate(job, now)
        if objection is not None:
            return objection
    return None


def _cancelled(job: Job, _now: dt.datetime) -> Verdict:
    return Stop(Status.CANCELLED, "cancelled") if job.asked.is_cancelled else None


def _expiry(job: Job, now: dt.datetime) -> Verdict:
    if job.asked.expires_at > now:
        return None
    cause = quiet.cause_at(job, job.asked.expires_at)
    return Stop(Status.EXPIRED, f"ttl_passed_in_{cause}" if cause else "ttl_passed")


def _allowed(job: Job, _now: dt.datetime) -> Verdict:
    """Where not everybody may be reached. What a test key sends reaches nobody anyway."""
    allowed = conf.current().allowed
    if allowed is None or job.delivery.mode is Mode.TEST:
        return None
    reachable = allowed.allows(user_id=job.asked.user_id, address=job.destination.address)
    return None if reachable else Stop(Status.SUPPRESSED, Reason.NOT_ALLOWED)


def _consent(job: Job, _now: dt.datetime) -> Verdict:
    """A channel that is off stops everything; a category, or a type, all but security."""
    stops = job.delivery.channel in job.destination.channels_off or channels.declines(
        job.destination.categories_off,
        topics=(job.asked.category, job.asked.type),
        priority=job.delivery.priority,
    )
    return Stop(Status.SUPPRESSED, Reason.OPTED_OUT) if stops else None


def _contact(job: Job, _now: dt.datetime) -> Verdict:
    return None if job.destination.is_valid else Stop(Status.SUPPRESSED, Reason.NO_CONTACT)


def _quiet(job: Job, now: dt.datetime) -> Verdict:
    """By the person's clock, now: what was held is asked again when it comes due."""
    wait = quiet.wait_of(job, now=now)
    return Hold(*wait) if wait else None


def _suppression(job: Job, _now: dt.datetime) -> Verdict:
    """Whatever the priority: a bounced address is dead, and a STOP is a channel switched off."""
    listed = job.destination.is_suppressed
    return Stop(Status.SUPPRESSED, Reason.SUPPRESSION_LIST) if listed else None


def _order(job: Job, _now: dt.datetime) -> Verdict:
    """Last: who would not leave anyhow keeps nobody waiting, and takes nobody's turn."""
    return Hold(order.look_again(job.ahead), ORDER) if job.ahead else None


Gate = Callable[[Job, dt.datetime], Verdict]

GATES: Final[Sequence[Gate]] = (
    _cancelled,
    _expiry,
    _allowed,
    _consent,
    _contact,
    _suppression,
    _quiet,
    _order,
)
"""In the order in which they are asked."""
