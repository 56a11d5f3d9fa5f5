"""The decision after an ended provider call, for settle and rescue.

Accepted       sent
NotStarted     back to the queue; no attempt is spent
Throttled      retry after the provider's wait; no attempt is spent
Unavailable    retry after the policy's wait, or give up
Rejected       failed, with a dead letter; retried if the refusal concerns this provider alone and
               another provider of the round was only away
Misconfigured  held, because the fault is ours
Unanswered     the table of `rules.unanswered`: resend, wait for a receipt, or resend once
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final, NamedTuple

from notifications.core.rules import retries, transitions, unanswered
from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.redaction import redact
from notifications.core.rules.retries import Again, Preset
from notifications.core.rules.transitions import Transition
from notifications.core.rules.unanswered import Answer
from providers.contract import (
    Accepted,
    Channel,
    Misconfigured,
    NotStarted,
    Outcome,
    Rejected,
    Repeat,
    Throttled,
    Unanswered,
    Unavailable,
)
from providers.refused_parts import RefusedPart

HOLD_FOR_PROVIDER: Final = dt.timedelta(seconds=30)
"""Shortest hold of a row whose provider is misconfigured or missing; jitter doubles it at most."""
LONGEST_REFUSED_WAIT: Final = dt.timedelta(minutes=15)
"""Longest wait of one of many refused messages; jitter doubles it at most. The messages of a whole
bulk job can wait so, for days, and leave within half an hour after the cause is mended."""
_LONGEST_URGENT_REFUSED_WAIT: Final = dt.timedelta(minutes=1)
"""The same of P0 and P1, which live an hour at most by default."""
_LAST_TRY: Final = 0.8
"""Share of the rest of the time to live that a wait takes at least, if the wait would outlive it.
"""
RETURN_GRACE: Final = dt.timedelta(seconds=2)
"""Head start of a returned row's message before the relay publishes the row again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """Inputs of the decision besides the outcome."""

    channel: Channel
    priority: Priority
    repeat: Repeat
    """Effect of a second call with the same key at this provider."""
    preset: Preset
    calls: int
    """Provider calls of the delivery, including the current call."""
    calls_counted: int
    """Calls counted against the preset's attempts, including the current call."""
    resent: bool
    """True after the single resend that follows an unanswered call."""
    is_probe: bool
    """The call was a probe, which spends no attempt if it fails."""
    perhaps_sent: bool
    """True if an earlier call of the delivery was unanswered."""
    time_to_live: dt.timedelta
    chance: float
    """One draw from [0, 1)."""
    passed_by: bool = False
    """True if another provider of the round failed for a temporary reason."""
    in_doubt: bool = False
    """True if another provider of the round failed after possibly sending the message."""
    is_one_of_many: bool = False
    """True if the provider refuses the same part of many messages (`Rejected.refused_part`)."""


class Decision(NamedTuple):
    """A transition of a delivery."""

    transition: Transition
    reason: str = ""
    detail: str = ""
    due_in: dt.timedelta | None = None
    """None: the row is final."""
    provider_message_id: str = ""
    republish_in: dt.timedelta | None = None
    """Time until the worker publishes the delivery again; None: not by the worker."""


def decide(outcome: Outcome, now: Circumstances) -> Decision:  # noqa: PLR0911 - one a kind
    """Decide the transition after an ended call."""
    outcome = _of_the_round(outcome, now)
    match outcome:
        case Accepted():
            return accepted(outcome)
        case NotStarted():
            return RETURNED
        case Throttled():
            return _retry(outcome, now, reason=Reason.THROTTLED, is_free=True)
        case Unavailable():
            return _retry(outcome, now, reason=Reason.UNAVAILABLE, is_free=now.is_probe)
        case Rejected():
            return _after_refusal(outcome, now)
        case Misconfigured():
            wait = HOLD_FOR_PROVIDER * (1 + now.chance)
            return Decision(
                transition=transitions.HOLD_REFUNDED,
                reason=Reason.PROVIDER_MISCONFIGURED,
                detail=_detail(outcome),
                due_in=wait,
                republish_in=wait if now.priority.is_urgent else None,
            )
        case Unanswered():
            return _after_silence(outcome, now)


def accepted(outcome: Accepted) -> Decision:
    """Decide the transition after an accepted call, which no circumstance changes."""
    return Decision(transition=transitions.ACCEPT, provider_message_id=outcome.message_id)


RETURNED: Final = Decision(
    transition=transitions.RETURN_REFUNDED,
    reason=Reason.CLAIM_RETURNED,
    due_in=RETURN_GRACE,
    republish_in=dt.timedelta(0),
)
"""A call that was counted and did not begin."""


def _of_the_round(outcome: Outcome, now: Circumstances) -> Outcome:
    """Return the outcome of a round: unanswered, if a call may have sent and none did."""
    if not now.in_doubt or isinstance(outcome, Accepted | Unanswered):
        return outcome
    return Unanswered(code=outcome.code, detail=outcome.detail)


_OF_PARTS: Final = {
    RefusedPart.SENDER: Reason.SENDER_REFUSED,
    RefusedPart.TEMPLATE: Reason.TEMPLATE_REFUSED,
    RefusedPart.SANDBOX: Reason.IN_SANDBOX,
}
"""Reasons of refusals by the refused part; an entry of the ledger can hold a part of a later
release."""


def _after_refusal(outcome: Rejected, now: Circumstances) -> Decision:
    if outcome.another_provider_may_accept and now.passed_by:
        return _retry(outcome, now, reason=Reason.UNAVAILABLE, is_free=False)
    reason = _OF_PARTS.get(outcome.refused_part, Reason.PERMANENT)
    if outcome.refused_part and now.is_one_of_many:
        return _wait_as_one_of_many(outcome, now, reason=reason)
    return Decision(transition=transitions.REJECT, reason=reason, detail=_detail(outcome))


def _wait_as_one_of_many(outcome: Rejected, now: Circumstances, *, reason: Reason) -> Decision:
    """Retry until the time to live, and so rarely that a wave makes no flood of calls.

    The wait doubles with each call of the message, because the number of waiting messages has no
    bound. A last try comes within the time to live.
    """
    decision = _retry(outcome, now, reason=reason, is_free=True)
    if decision.transition is not transitions.RETRY_REFUNDED or decision.due_in is None:
        return decision
    is_urgent = now.priority.is_urgent
    longest = _LONGEST_URGENT_REFUSED_WAIT if is_urgent else LONGEST_REFUSED_WAIT
    grown = min(HOLD_FOR_PROVIDER * 2 ** min(now.calls - 1, 16), longest)
    last_try = now.time_to_live * (_LAST_TRY + (1 - _LAST_TRY) / 2 * now.chance)
    wait = retries.round_up(max(decision.due_in, min(grown * (1 + now.chance), last_try)))
    return decision._replace(due_in=wait, republish_in=wait)


def _after_silence(outcome: Unanswered, now: Circumstances) -> Decision:
    answer = unanswered.answer_for(channel=now.channel, priority=now.priority, repeat=now.repeat)
    if answer is Answer.RESEND:
        return _retry(outcome, now, reason=Reason.UNANSWERED, is_free=now.is_probe)
    resends = answer is Answer.RESEND_ONCE and not now.resent
    wait = unanswered.RECHECK_AFTER if resends else unanswered.CLOSE_AFTER
    return _retry_unanswered(_detail(outcome), wait=wait)


def _retry(
    outcome: Throttled | Unavailable | Rejected | Unanswered,
    now: Circumstances,
    *,
    reason: Reason,
    is_free: bool,
) -> Decision:
    """Retry by the policy; only the time to live ends the retries of free calls."""
    then = retries.next_try(
        now.preset,
        calls_made=_free_calls(now) if is_free else now.calls_counted,
        chance=now.chance,
        retry_after=None if isinstance(outcome, Rejected | Unanswered) else outcome.retry_after,
        time_to_live=now.time_to_live,
        is_urgent=now.priority.is_urgent,
    )
    detail = _detail(outcome)
    if not isinstance(then, Again):
        if now.perhaps_sent or isinstance(outcome, Unanswered):
            # The message may have arrived, so this is no failure: a receipt can still say so.
            return _retry_unanswered(f"{then}: {detail}", wait=unanswered.CLOSE_AFTER)
        given_up = transitions.DROP if now.preset.drops else transitions.REJECT
        return Decision(transition=given_up, reason=then, detail=detail)
    return Decision(
        transition=transitions.RETRY_REFUNDED if is_free else transitions.RETRY,
        reason=reason,
        detail=detail,
        due_in=then.delay,
        republish_in=then.delay,
    )


def _free_calls(now: Circumstances) -> int:
    """Return the number of calls that the wait after a free call grows with.

    For P0 and P1 it stays in the policy's first two steps, because a wait of minutes would outlive
    the throttling, and an OTP.
    """
    most = 2 if now.priority.is_urgent else now.preset.attempts
    return max(1, min(now.calls, most, now.preset.attempts - 1))


def _retry_unanswered(detail: str, *, wait: dt.timedelta) -> Decision:
    return Decision(
        transition=transitions.LEAVE_UNANSWERED,
        reason=Reason.UNANSWERED,
        detail=detail,
        due_in=wait,
    )


def _detail(outcome: Throttled | Unavailable | Rejected | Misconfigured | Unanswered) -> str:
    """Return code and redacted detail for the timeline."""
    return ": ".join(part for part in (outcome.code, redact(outcome.detail)) if part)
