"""SMS refusals: P0 and P1 posts above a ceiling of SMS pumping protection get 429.

    count      counts the new P0 and P1 SMS of a list in one Redis call, before the rows are stored
    uncount    takes the counts back if the rows are not stored

Only live posts of producers and steps of series are checked here (`Caller.is_post`), and only SMS
that would leave now. The worker checks each further SMS: of a schedule, bulk job or fallback chain
(`delivery.sms_ceilings`). A refused post stores nothing, so its idempotency key is free for the
next try; a refused step of a series is tried again after the wait. A process that dies between
count and commit leaves counts that end with their interval.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from notifications.intake.idempotency_keys import Repeat
from notifications.intake.plan import Plan
from notifications.rules.problems import Kind, Problem
from notifications.rules.sms_pumping.ceilings import Ceiling
from notifications.store.rate_limits import sms_ceilings, sms_policy
from notifications.store.rate_limits.sms_ceilings import SmsAnswer, SmsRequest
from notifications.store.redis import state
from notifications.telemetry import instruments

Entry = Plan | Repeat | Problem
"""A request of a list."""
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


def count(plans: Sequence[Entry]) -> tuple[list[Entry], list[SmsRequest]]:
    """Count the SMS of new plans; returns the plans, with refused ones replaced by problems.

    Also returns the requests that were counted now, for `uncount_on_error`. While the state Redis
    is away, every plan stays (`store.rate_limits.sms_ceilings`).
    """
    kept: list[Entry] = list(plans)
    asked = _requests(plans)
    if not asked:
        return kept, []
    requests = list(asked.values())
    try:
        answers = sms_ceilings.count(requests, refuses=sms_policy.current().limits.is_enforced)
    except state.Away:
        return kept, []
    new: list[SmsRequest] = []
    for place, request, answer in zip(asked, requests, answers, strict=True):
        if answer.refused_by is not None:
            kept[place] = _problem(request, answer, answer.refused_by)
        elif answer.is_new:
            new.append(request)
    return kept, new


@contextmanager
def uncount_on_error(requests: Sequence[SmsRequest]) -> Iterator[None]:
    """Take counts back if the block raises an exception: no row was stored."""
    try:
        yield
    except BaseException:
        sms_ceilings.uncount(requests)
        raise


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
        request = sms_ceilings.request_of(
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
