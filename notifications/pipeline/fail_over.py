"""Fail over: what one provider could not take goes to its next, at once and in the same task.

    Throttled, Unavailable, Misconfigured    nothing was sent: the next provider
    Rejected                                 the next provider, where the refusal is this one's own
                                             (sender, region, route, spam block); else settled
    Unanswered                               settled: another would not know that it is a repeat.
                                             An urgent message whose provider answered with an error
                                             goes on: no later answer is to be expected. If nobody
                                             else takes it, it is settled as unanswered
    Accepted, NotStarted                     settled

Each try is an attempt of its own, with its own lease and its own place in the retry policy's count.
Only after the last provider does that policy say when the round begins again. A delivery that an
earlier call may have sent stays with the provider of that call, which can tell a repeat; only an
urgent one goes on, because there a second message is better than none (`rules.unanswered`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from notifications import clock
from notifications.pipeline import settle
from notifications.pipeline.job import Job
from notifications.store import attempts
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
    """Note the calls whose jobs another provider can take, and give these jobs to it.

    Returns the others, which are to be settled. A crash right after this leaves rows under their
    lease, like a crash during a call.
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
    """Whether another provider may be asked after this outcome."""
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
    """Patient jobs of which an earlier call was never answered: only who got it knows the key."""
    called_before = [
        job.delivery.id
        for job in jobs
        if (job.call > 1 or job.delivery.attempts) and not job.delivery.priority.is_urgent
    ]
    return attempts.unanswered(called_before) if called_before else set()
