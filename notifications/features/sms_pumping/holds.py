"""SMS ceilings: hold P0 and P1 SMS above a ceiling of SMS pumping protection before the call.

Accept has counted the SMS of posts and of steps of series, and the count of such an SMS stays as it
is. The step counts the others: SMS of schedules, bulk jobs and fallback chains, and SMS that leave
over ten minutes after accept. The ceilings of prefix and country hold no SMS that follows a failed
or unconfirmed channel (`ClaimedDelivery.is_fallback`). A held SMS is tried again when the ceiling
has room, and expires at the end of its time to live; a fallback chain goes on with the next channel
at once. While the state Redis is away, each SMS passes.

Safe to run twice: a counted SMS counts once. One Redis call counts a batch, and a batch without P0
and P1 SMS needs no call. Deliveries in test mode have no ceiling.
"""

from __future__ import annotations

from collections.abc import Iterable

from notifications.core import clock
from notifications.core.delivery.batch import Batch
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules.lane import Mode
from notifications.core.rules.outcomes import Decision
from notifications.core.rules.reasons import Reason
from notifications.core.rules.transitions import HOLD
from notifications.core.store.redis import state
from notifications.core.telemetry import instruments
from notifications.features.sms_pumping import counts
from notifications.features.sms_pumping import policy as sms_policy
from notifications.features.sms_pumping.counts import SmsAnswer, SmsRequest
from providers.contract import Channel


def apply_ceilings(batch: Batch) -> None:
    """Hold P0 and P1 SMS above a ceiling."""
    texts = [
        claimed
        for claimed in batch.deliveries
        if claimed.delivery.channel is Channel.SMS and claimed.delivery.mode is Mode.LIVE
    ]
    if not texts:
        return
    asked = _requests(texts)
    if not asked:
        return
    requests = [request for _, request in asked]
    try:
        answers = counts.count(requests, refuses=sms_policy.current().limits.is_enforced)
    except state.Away:
        return
    for (claimed, request), answer in zip(asked, answers, strict=True):
        if answer.refused_by is not None:
            _hold(batch, claimed, request, answer)


def _requests(texts: Iterable[ClaimedDelivery]) -> list[tuple[ClaimedDelivery, SmsRequest]]:
    found = []
    policy = sms_policy.current()
    for claimed in texts:
        if not claimed.delivery.priority.is_urgent:
            continue
        row = claimed.notification
        request = counts.request_of(
            policy,
            claimed.destination.address,
            producer_id=row.producer_id,
            idempotency_key=row.idempotency_key,
            notification_id=row.id,
            is_fallback=claimed.is_fallback,
        )
        if request is not None:
            found.append((claimed, request))
    return found


def _hold(batch: Batch, claimed: ClaimedDelivery, request: SmsRequest, answer: SmsAnswer) -> None:
    """Hold an SMS until the ceiling has room; the jitter spreads the next tries."""
    ceiling = answer.refused_by.value if answer.refused_by else ""
    instruments.SMS_REFUSED.labels(ceiling, request.country, "send").inc()
    wait = min(answer.wait * (1 + clock.jitter()), claimed.time_to_live(batch.now))
    held = Decision(
        transition=HOLD,
        reason=Reason.SMS_CEILING,
        detail=f"ceiling of the {ceiling.replace('_', ' ')}, {request.country}",
        due_in=wait,
        republish_in=wait,
    )
    batch.decide(claimed, held)
