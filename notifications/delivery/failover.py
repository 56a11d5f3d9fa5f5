"""Fail over: a delivery that a provider could not take goes to the next one in the same task.

    Throttled, Unavailable, Misconfigured    no message was sent: the next provider
    Rejected                                 the next provider, if the refusal concerns this
                                             provider alone (sender, region, route, spam block)
    Unanswered                               settled, because another provider cannot detect a
                                             repeat; a P0 or P1 that was answered with an error
                                             goes on, and is settled if no provider takes it
    Accepted, NotStarted                     settled

Each try is an attempt with its own lease and counts in the retry policy, which decides about the
next round only after the last provider. A patient delivery with an earlier unanswered call stays
with the provider of that call; an urgent one goes on (`rules.unanswered`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from notifications import clock
from notifications.delivery import settle
from notifications.delivery.claimed import Job
from notifications.store.postgres import attempts
from providers.contract import (
    Misconfigured,
    Provider,
    Rejected,
    Result,
    Throttled,
    Unanswered,
    Unavailable,
)

Pair = tuple[Job, Result]


def take_onward(pairs: Sequence[Pair], *, provider: Provider) -> Sequence[Pair]:
    """Record the calls whose jobs another provider can take, and give the jobs to that provider.

    Returns the other pairs, which are to be settled. A crash right after this leaves rows under
    their lease, like a crash during a call.
    """
    now = clock.now()
    able = [
        job
        for job, result in pairs
        if len(job.providers) > 1 and _may_go_on(job, result) and job.asked.expires_at > now
    ]
    if not able:
        return pairs
    bound = perhaps_sent_before(able)
    onward = {job.delivery.id for job in able} - bound
    settle.note([pair for pair in pairs if pair[0].delivery.id in onward], provider=provider)
    for job, result in pairs:
        if job.delivery.id in onward:
            job.providers = job.providers[1:]
            job.passed_by |= not isinstance(result.outcome, Rejected)
            job.in_doubt |= isinstance(result.outcome, Unanswered)
    return [pair for pair in pairs if pair[0].delivery.id not in onward]


def _may_go_on(job: Job, result: Result) -> bool:
    match result.outcome:
        case Throttled() | Unavailable() | Misconfigured():
            return True
        case Rejected(another_provider_may_accept=may_accept):
            return may_accept
        case Unanswered():
            return job.delivery.priority.is_urgent and result.http_status is not None
        case _:
            return False


def perhaps_sent_before(jobs: Iterable[Job]) -> set[UUID]:
    """Return the patient jobs with an earlier unanswered call: only its provider knows the key."""
    called_before = [
        job.delivery.id
        for job in jobs
        if (job.call > 1 or job.delivery.attempts) and not job.delivery.priority.is_urgent
    ]
    return attempts.unanswered(called_before) if called_before else set()
