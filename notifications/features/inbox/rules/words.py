"""Words of the inbox: the list of a recipient's in-app messages."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from notifications.core.rules.inbox_states import InboxState


class InboxTab(StrEnum):
    """A list of the inbox."""

    INBOX = "inbox"
    ARCHIVED = "archived"
    SNOOZED = "snoozed"


class InboxAction(StrEnum):
    """A change that the recipient makes to inbox items."""

    SEEN = "seen"
    READ = "read"
    """A read item is seen as well."""
    UNREAD = "unread"
    ARCHIVE = "archive"
    UNARCHIVE = "unarchive"
    SNOOZE = "snooze"
    UNSNOOZE = "unsnooze"
    DELETE = "delete"


class Removal(StrEnum):
    """The cause of the removal of an inbox item."""

    WITHDRAWN = "withdrawn"
    """The producer cancelled or withdrew the notification."""
    DELETED = "deleted"
    """The recipient deleted the item."""
    EXPIRED = "expired"


STATES_OF_TAB: Final = {
    InboxTab.INBOX: (InboxState.UNSEEN, InboxState.UNREAD, InboxState.READ),
    InboxTab.ARCHIVED: (InboxState.ARCHIVED,),
    InboxTab.SNOOZED: (InboxState.SNOOZED,),
}
UNREAD_STATES: Final = (InboxState.UNSEEN, InboxState.UNREAD)

STATES_BEFORE: Final = {
    InboxAction.SEEN: (InboxState.UNSEEN,),
    InboxAction.READ: UNREAD_STATES,
    InboxAction.UNREAD: (InboxState.READ,),
    InboxAction.ARCHIVE: STATES_OF_TAB[InboxTab.INBOX],
    InboxAction.UNARCHIVE: (InboxState.ARCHIVED,),
    InboxAction.SNOOZE: STATES_OF_TAB[InboxTab.INBOX],
    InboxAction.UNSNOOZE: (InboxState.SNOOZED,),
    InboxAction.DELETE: STATES_OF_TAB[InboxTab.INBOX],
}
"""The states from which an action on all items takes its items; the action leaves these states."""
