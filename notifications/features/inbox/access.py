"""Access rules of inboxes."""

from __future__ import annotations

from typing import Final

from notifications.core.rules.access import BOTH, AccessRule
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.rules.scopes import Scope

_INBOX: Final = "/v1/inbox/{user_id}"
_MESSAGE: Final = "/v1/inbox/{user_id}/{message_id}"
_MARKS: Final = ("seen", "read", "unread", "archive", "unarchive", "snooze", "unsnooze")
_MARKS_OF_SEVERAL: Final = ("seen", "read", "archive")
RULES: Final = (
    *(
        AccessRule(
            f"GET {_INBOX}{part}", Scope.INBOX_READ, BOTH, "view_recipient", TokenScope.INBOX_READ
        )
        for part in ("", "/unread-count", "/changes", "/stream")
    ),
    *(
        AccessRule(operation, Scope.INBOX_WRITE, token_scope=TokenScope.INBOX_WRITE)
        for operation in (
            *(f"POST {_MESSAGE}/{mark}" for mark in _MARKS),
            f"POST {_MESSAGE}/actions/{{action_id}}",
            f"DELETE {_MESSAGE}",
            *(f"POST {_INBOX}/{mark}" for mark in _MARKS_OF_SEVERAL),
            *(f"POST {_INBOX}/{mark}-all" for mark in _MARKS_OF_SEVERAL),
        )
    ),
)
