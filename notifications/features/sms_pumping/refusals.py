"""SMS refusals: P0 and P1 posts above a ceiling of SMS pumping protection get 429.

One Redis call counts the new P0 and P1 SMS of a list before the rows are stored. Only live posts of
producers and steps of series are checked here, and only SMS that would leave now. The worker checks
each further SMS: of a schedule, bulk job or fallback chain (`holds`). A refused step of a series is
tried again after the wait. A process that dies between count and commit leaves counts that end with
their interval.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from notifications.core.intake.idempotency_keys import Entry
from notifications.core.intake.plan import Plan
from notifications.core.rules.problems import Kind, Problem
from notifications.core.store.redis import state
from notifications.core.telemetry import instruments
from notifications.features.sms_pumping import counts
from notifications.features.sms_pumping import policy as sms_policy
from notifications.features.sms_pumping.counts import SmsAnswer, SmsRequest
from notifications.features.sms_pumping.rules.ceilings import Ceiling

_KINDS: Final = {
    Ceiling.ADDRESS: Kind.SMS_PUMPING_ADDRESS,
    Ceiling.PREFIX: Kind.SMS_PUMPING_PREFIX,
    Ceiling.COUNTRY: Kind.SMS_PUMPING_COUNTRY,
    Ceiling.PRODUCER_COUNTRY: Kind.SMS_PUMPING_COUNTRY,
}
_SUBJECTS: Final = {
    Ceiling.ADDRESS: "this number",
    Ceiling.PREFIX: "numbers that begin like this number",
    Ceiling.COUNTRY: "the country of this number",
    Ceiling.PRODUCER_COUNTRY: "the country of this number from this producer",
}


def refuse(entries: list[Entry]) -> Callable[[], None] | None:
    """Count the SMS of new plans, and put problems in place of refused plans.

    While the state Redis is away, every plan stays (`features.sms_pumping.counts`).
    """
    asked = _requests(entries)
    if not asked:
        return None
    requests = list(asked.values())
    try:
        answers = counts.count(requests, refuses=sms_policy.current().limits.is_enforced)
    except state.Away:
        return None
    new: list[SmsRequest] = []
    for place, request, answer in zip(asked, requests, answers, strict=True):
        if answer.refused_by is not None:
            entries[place] = _problem(request, answer, answer.refused_by)
        elif answer.is_new:
            new.append(request)
    return partial(counts.uncount, new) if new else None


def _requests(plans: Sequence[Entry]) -> dict[int, SmsRequest]:
    """Return the requests by place in the list; plans without an SMS to count are left out."""
    texts = [
        (place, plan)
        for place, plan in enumerate(plans)
        if isinstance(plan, Plan) and plan.sms_number
    ]
    if not texts:
        return {}
    found: dict[int, SmsRequest] = {}
    policy = sms_policy.current()
    for place, plan in texts:
        request = counts.request_of(
            policy,
            plan.sms_number,
            producer_id=plan.producer_id,
            idempotency_key=plan.key.name if plan.key else "",
            notification_id=plan.id,
        )
        if request is not None:
            found[place] = request
    return found


def _problem(request: SmsRequest, answer: SmsAnswer, ceiling: Ceiling) -> Problem:
    instruments.SMS_REFUSED.labels(ceiling.value, request.country, "accept").inc()
    seconds = int(answer.wait / dt.timedelta(seconds=1))
    said = (
        f"too many P0 and P1 SMS to {_SUBJECTS[ceiling]} lately (protection against SMS pumping);"
        f" post again in {seconds} s"
    )
    return Problem(_KINDS[ceiling], said, (), answer.wait)
