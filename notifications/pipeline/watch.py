"""Watch: what the outcomes of a batch say of its provider, told to its breaker.

    Accepted, Rejected, Throttled   it was there and answered
    Unavailable, Unanswered         it failed
    Misconfigured                   it blames us: the breaker opens at once
    NotStarted                      nothing: the provider was not called

Throttled counts as an answer: a provider that slows us down is well, and its own wait is heeded.
Test mode is not told: it must not close the way of live messages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import assert_never

from notifications.pipeline.job import Job
from notifications.rules.breaker import Tally
from notifications.rules.lane import Mode
from notifications.store import breakers
from providers.contract import (
    Accepted,
    Channel,
    Misconfigured,
    NotStarted,
    Outcome,
    Rejected,
    Result,
    Throttled,
    Unanswered,
    Unavailable,
)


def report(pairs: Iterable[tuple[Job, Result]], *, provider: str) -> None:
    """Tell the breakers of a provider what its calls came to, in the order in which they ended."""
    by_channel: dict[Channel, list[Outcome]] = defaultdict(list)
    for job, result in pairs:
        if job.delivery.mode is Mode.LIVE:
            by_channel[job.delivery.channel].append(result.outcome)
    for channel, outcomes in by_channel.items():
        breakers.report((provider, channel), _tally(outcomes))


def _tally(outcomes: Sequence[Outcome]) -> Tally:
    answered = unavailable = unanswered = last_failures = 0
    fault = ""
    for outcome in outcomes:
        match outcome:
            case Accepted() | Rejected() | Throttled():
                answered += 1
                last_failures = 0
            case Unavailable():
                unavailable += 1
                last_failures += 1
            case Unanswered():
                unanswered += 1
                last_failures += 1
            case Misconfigured(code=code):
                fault = f"it refuses our credentials or account: {code}"
            case NotStarted():
                continue
            case _:
                assert_never(outcome)
    return Tally(
        answered=answered,
        unavailable=unavailable,
        unanswered=unanswered,
        last_failures=last_failures,
        fault=fault,
    )
