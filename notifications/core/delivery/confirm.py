"""Confirm: wait for a receipt of an accepted delivery before its fallback chain goes on.

    with_window    gives an accepted or unanswered member of a chain a due time
    end_windows    at the due time: `unconfirmed` and the next channel, or the row stays as it is

A receipt in the window makes the row `delivered` and removes the due time. A window starts only
where a receipt can come, or where the notification type asks for it. Safe to run twice: both steps
expect the status.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from notifications.core.delivery import fall_back
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules import fallback, ids
from notifications.core.rules.fallback import FallbackOn
from notifications.core.rules.lane import Priority
from notifications.core.rules.outcomes import Decision
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import ACCEPT, END_CONFIRM, ESCALATE, KEEP_UNANSWERED
from notifications.core.rules.unanswered import CLOSE_AFTER
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres import secret_variables, transitions
from notifications.core.store.postgres.transitions import STILL_DUE, Move
from notifications.core.store.templates import template_cache
from providers.contract import Provider

Row = Mapping[str, Any]
"""A row of `due.sql`."""
_STAYS: Final = {Status.SENT: END_CONFIRM, Status.UNKNOWN: KEEP_UNANSWERED}


def with_window(claimed: ClaimedDelivery, decision: Decision, *, provider: Provider) -> Decision:
    """Return the decision about a member of a fallback chain with a confirm window."""
    return _with_window(
        decision,
        priority=claimed.delivery.priority,
        type_name=claimed.notification.type,
        template=claimed.notification.template,
        receipt_can_come=provider.capabilities.gives_receipts or claimed.destination.sends_receipts,
    )


def with_window_of_row(row: Row, decision: Decision, *, receipt_can_come: bool) -> Decision:
    """Return the decision about a row of `due.sql` with a confirm window."""
    if not row["falls_back"]:
        return decision
    return _with_window(
        decision,
        priority=Priority(row["priority"]),
        type_name=row["type"],
        template=row["template"],
        receipt_can_come=receipt_can_come,
    )


def keeps_secrets(claimed: ClaimedDelivery, decision: Decision, *, provider: Provider) -> bool:
    """Return True if a failure receipt can open the next channel, which needs the secrets.

    The receipt or the time to live wipes the sensitive variables.
    """
    is_final = decision.transition is ACCEPT and decision.due_in is None
    return is_final and claimed.delivery.falls_back and provider.capabilities.gives_receipts


def _with_window(
    decision: Decision,
    *,
    priority: Priority,
    type_name: str,
    template: int | None,
    receipt_can_come: bool,
) -> Decision:
    is_accepted = decision.transition is ACCEPT
    if not is_accepted and decision.due_in != CLOSE_AFTER:
        return decision
    chosen, on = _settings(type_name, template)
    window = fallback.confirm_window(
        priority,
        chosen=chosen,
        on=on,
        # An unanswered call is no acceptance: only a receipt could end the chain.
        receipt_can_come=receipt_can_come or not is_accepted,
    )
    return decision if window is None else decision._replace(due_in=window)


def _settings(type_name: str, template: int | None) -> tuple[dt.timedelta | None, FallbackOn]:
    """Return confirm window and condition.

    A setting of the template version replaces the setting of the notification type.
    """
    window, on = None, FallbackOn.RECEIPT
    if rule := notification_types.every().get(type_name):
        window, on = rule.confirm_within, FallbackOn(rule.fallback_on)
    version = template_cache.by_id({template}).get(template) if template else None
    if version:
        window = version.confirm_within or window
        on = FallbackOn(version.fallback_on or on)
    return window, on


def end_windows(rows: Sequence[Row], *, status: Status) -> int:
    """Escalate due rows without a receipt; returns the number of changed rows.

    A row without a next channel stays `sent`, or `unknown` for a day from the call.
    """
    if not rows:
        return 0
    made = fall_back.plan([row["id"] for row in rows], is_window=True)
    escalated = [
        Move(id=row["id"], reason=Reason.UNCONFIRMED) for row in rows if made.replaces(row["id"])
    ]
    stays = _STAYS[status]
    kept = [
        Move(
            id=row["id"],
            reason=Reason.NOT_CONFIRMED,
            due_in=CLOSE_AFTER if status is Status.UNKNOWN else None,
        )
        for row in rows
        if not made.replaces(row["id"])
    ]
    moved: list[UUID] = transitions.apply(ESCALATE, escalated, STILL_DUE)
    fall_back.carry_out(made, moved)
    ended = transitions.apply(stays, kept, STILL_DUE)
    secret_variables.wipe({ids.notification_of(each) for each in ended})
    return len(moved) + len(ended)
