"""Actions of in-app messages: buttons pressed by the recipient.

    record()  ->  one event of the timeline  ->  the webhook `inbox.action` for each endpoint
                  the item is read

The event and the webhook messages are one statement, so a kill leaves both or neither; a repeat of
an action adds no event.
"""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

from notifications.core.rules import ids
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.webhook_events import StatusEvent
from notifications.core.store.postgres import db
from notifications.features.inbox.rows import reads, writes
from notifications.features.inbox.rules.words import InboxAction


class ActionResult(StrEnum):
    """The effect of a pressed button."""

    RECORDED = "recorded"
    """The action was recorded, or was recorded before."""
    UNKNOWN_MESSAGE = "unknown_message"
    """The recipient's inbox has no such message."""
    UNKNOWN_ACTION = "unknown_action"
    """The message has no such action."""


def record(recipient_id: int, message_id: UUID, action_id: str) -> ActionResult:
    """Record a pressed button, and mark the message as read. Safe to run twice."""
    item = reads.items(recipient_id, [message_id]).get(message_id)
    if item is None:
        return ActionResult.UNKNOWN_MESSAGE
    if action_id not in {each["id"] for each in item.actions}:
        return ActionResult.UNKNOWN_ACTION
    parameters = {
        "notification": ids.notification_of(message_id),
        "delivery": message_id,
        "action": action_id,
        "reason": Reason.INBOX_ACTION,
        "event": StatusEvent.INBOX_ACTION,
        "read": Status.READ,
    }
    db.in_transaction(lambda: db.run("inbox_press", parameters))
    writes.mark(recipient_id, InboxAction.READ, ids=[message_id])
    return ActionResult.RECORDED
