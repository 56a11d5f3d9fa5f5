"""Late refusals: the provider refused a call after the end of the lease, so no message was sent.

The worker was frozen or its call hung, and the rescue made the delivery `unknown`. A refusal proves
that no message left, so the delivery goes on as after a refusal in time, with the same calls left
and the same time to live. Only an `unknown` delivery moves, if the refused call is the last call;
in any other status a later step has decided already.

    the chain has a next channel, or uses one     failed: no receipt of this channel can come, so
                                                  the chain does not wait for the confirm window
    the decision is a retry, a hold, a return     retrying; the gates of the next claim stop a
                                                  cancelled or expired delivery
    the decision is a failure                     failed, with the dead letter of the decision

The refusal begins no call of another provider of the round (`failover`). Safe to run twice: the
first run changes the status.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final, NamedTuple
from uuid import UUID

from notifications.core.delivery import fall_back
from notifications.core.delivery.batch import (
    DeliveryDecision,
    decisions_of,
    members_of,
    secrets_to_wipe,
)
from notifications.core.rules.outcomes import Decision
from notifications.core.rules.reasons import Reason
from notifications.core.rules.transitions import (
    DROP,
    DROP_LATE,
    FALL_BACK_RESOLVED,
    HOLD_REFUNDED,
    REJECT,
    REJECT_LATE,
    RETRY,
    RETRY_LATE,
    RETRY_LATE_REFUNDED,
    RETRY_REFUNDED,
    RETURN_REFUNDED,
)
from notifications.core.store.postgres import (
    attempts,
    db,
    locked_rows,
    secret_variables,
    transitions,
)
from notifications.core.store.postgres.attempts import AttemptRow
from notifications.core.store.postgres.transitions import FromProvider
from providers.contract import (
    Misconfigured,
    NotStarted,
    Rejected,
    Throttled,
    Unavailable,
)

REFUSALS: Final = Misconfigured | NotStarted | Rejected | Throttled | Unavailable
"""Outcomes of calls that sent nothing."""
_LATE: Final = MappingProxyType({
    REJECT: REJECT_LATE,
    DROP: DROP_LATE,
    RETRY: RETRY_LATE,
    RETRY_REFUNDED: RETRY_LATE_REFUNDED,
    HOLD_REFUNDED: RETRY_LATE_REFUNDED,
    RETURN_REFUNDED: RETRY_LATE_REFUNDED,
})
"""The transition of a decision, and of the same decision after the lease. Any other decision leaves
the delivery `unknown`, because an earlier call may have sent the message."""
_AFTER_LEASE: Final = "after the lease"
"""Begin of the detail of events and dead letters."""


class Settled(NamedTuple):
    """The result of `settle`."""

    changed: list[DeliveryDecision]
    """The decisions about the changed rows."""
    moved: set[UUID]
    """The ids of the changed rows."""
    locked: Sequence[UUID] = ()
    """Rows that another transaction has locked: call again."""


def settle(
    entries: Sequence[DeliveryDecision], calls: Sequence[AttemptRow], *, provider: str
) -> Settled:
    """Store late refusals, in a transaction of their own.

    Args:
        entries: decisions about these deliveries and others, as for a row of the claim.
        calls: the refused calls of deliveries that the claim holds no more.
        provider: the provider of the calls.
    """
    numbers = {each.delivery_id: each.number for each in calls}
    late = decisions_of(numbers, entries)

    def write(ids: Sequence[UUID]) -> Settled:
        wanted = set(ids)
        some = [each for each in calls if each.delivery_id in wanted]
        return db.in_transaction(lambda: _write(decisions_of(wanted, late), some, provider))

    written, locked = locked_rows.leave_out(write, list(numbers), members=members_of(late))
    return written._replace(locked=locked)


def _write(late: Sequence[DeliveryDecision], calls: Sequence[AttemptRow], provider: str) -> Settled:
    answers = [_nothing_sent(each) for each in calls]
    attempts.answer_late(answers, provider=provider)
    made = fall_back.plan({each.delivery.id for each in late if each.delivery.falls_back})
    final = {
        each.delivery.id: _after_lease(each.decision, is_over=made.replaces(each.delivery.id))
        for each in late
        if each.decision.transition in _LATE
    }
    numbers = {each.delivery_id: each.number for each in calls}
    moved = transitions.write(final.items(), FromProvider(provider, calls=numbers))
    attempts.tell(answers, moved=moved)
    fall_back.carry_out(made, moved)
    changed = [
        each._replace(decision=final[each.delivery.id])
        for each in late
        if each.delivery.id in moved
    ]
    secret_variables.wipe(secrets_to_wipe(changed))
    return Settled(changed, moved)


def _nothing_sent(call: AttemptRow) -> AttemptRow:
    """Return a call without a begin as an unavailable call: an attempt has no other word."""
    return call._replace(outcome="unavailable") if call.outcome == "notstarted" else call


def _after_lease(decision: Decision, *, is_over: bool) -> Decision:
    detail = ": ".join(part for part in (_AFTER_LEASE, decision.detail) if part)
    if is_over:
        return Decision(transition=FALL_BACK_RESOLVED, reason=Reason.ESCALATED, detail=detail)
    return decision._replace(transition=_LATE[decision.transition], detail=detail)
