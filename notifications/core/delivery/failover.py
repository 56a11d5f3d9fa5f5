"""Failover: the same task sends a delivery by the next provider after a failed call.

    Throttled, Unavailable, Misconfigured    next provider: the first sent no message
    Rejected                                 next provider, if the refusal concerns the first
                                             provider alone (sender, region, route, spam block)
    Unanswered                               settled, because the next provider cannot detect a
                                             duplicate; P0 and P1 go on after an HTTP error
    Accepted, NotStarted                     settled

A call is settled after the end of its lease, because another worker may have the delivery.

Each call is an attempt with a lease. The retry policy decides about the next round after the last
provider. P2 and P3 with an earlier unanswered call stay with the provider of the call; P0 and P1 go
on (`rules.unanswered`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from notifications.core import clock
from notifications.core.delivery import settle
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.store.postgres import attempts, claims
from providers.contract import (
    Misconfigured,
    Provider,
    Rejected,
    Result,
    Throttled,
    Unanswered,
    Unavailable,
)

Pair = tuple[ClaimedDelivery, Result]


def fail_over(pairs: Sequence[Pair], *, provider: Provider, token: UUID) -> Sequence[Pair]:
    """Record the calls of deliveries with a next provider, and pass the deliveries on.

    Args:
        pairs: deliveries and the results of their calls.
        provider: the provider of the calls.
        token: the claim of the deliveries.

    Returns:
        The pairs to settle. After a crash the rows are leased, as after a crash during a call.
    """
    now = clock.now()
    able = [
        claimed
        for claimed, result in pairs
        if len(claimed.providers) > 1
        and _may_go_on(claimed, result)
        and claimed.notification.expires_at > now
    ]
    if not able:
        return pairs
    bound = with_unanswered_call(able)
    wanted = {claimed.delivery.id for claimed in able}
    held = claims.rows_of(wanted, token=token)
    onward = (wanted & held) - bound
    settle.record_calls(
        [pair for pair in pairs if pair[0].delivery.id in onward], provider=provider
    )
    for claimed, result in pairs:
        if claimed.delivery.id in onward:
            claimed.providers = claimed.providers[1:]
            claimed.passed_by |= not isinstance(result.outcome, Rejected)
            claimed.in_doubt |= isinstance(result.outcome, Unanswered)
    staying = [pair for pair in pairs if pair[0].delivery.id not in onward]
    late = wanted - held
    return [_as_retry(pair) if pair[0].delivery.id in late else pair for pair in staying]


def as_retries(pairs: Sequence[Pair]) -> Sequence[Pair]:
    """Return pairs that cannot fail over as retries, so that no further provider is lost.

    A refusal specific to one provider becomes a temporary failure.
    """
    return [_as_retry(pair) for pair in pairs]


def _as_retry(pair: Pair) -> Pair:
    claimed, result = pair
    outcome = result.outcome
    has_next = len(claimed.providers) > 1 and _may_go_on(claimed, result)
    if not has_next or not isinstance(outcome, Rejected):
        return pair
    temporary = Unavailable(code=outcome.code, detail=outcome.detail)
    return claimed, replace(result, outcome=temporary)


def _may_go_on(claimed: ClaimedDelivery, result: Result) -> bool:
    match result.outcome:
        case Throttled() | Unavailable() | Misconfigured():
            return True
        case Rejected(another_provider_may_accept=may_accept):
            return may_accept
        case Unanswered():
            return claimed.delivery.priority.is_urgent and result.http_status is not None
        case _:
            return False


def pass_on(
    deliveries: Sequence[ClaimedDelivery],
) -> tuple[list[ClaimedDelivery], list[ClaimedDelivery]]:
    """Pass deliveries without a call to their next provider, if any: the provider takes none now.

    Returns:
        The deliveries with a next provider, and the deliveries without.
    """
    able = [claimed for claimed in deliveries if len(claimed.providers) > 1]
    bound = with_unanswered_call(able) if able else set()
    onward: list[ClaimedDelivery] = []
    staying: list[ClaimedDelivery] = []
    for claimed in deliveries:
        if len(claimed.providers) > 1 and claimed.delivery.id not in bound:
            claimed.providers = claimed.providers[1:]
            claimed.passed_by = True
            onward.append(claimed)
        else:
            staying.append(claimed)
    return onward, staying


def with_unanswered_call(deliveries: Iterable[ClaimedDelivery]) -> set[UUID]:
    """Return P2 and P3 with an earlier unanswered call: only its provider recognises the key."""
    called_before = [
        claimed.delivery.id
        for claimed in deliveries
        if (claimed.call > 1 or claimed.delivery.attempts)
        and not claimed.delivery.priority.is_urgent
    ]
    return attempts.without_answer(called_before) if called_before else set()
