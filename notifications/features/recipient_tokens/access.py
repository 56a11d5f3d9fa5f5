"""Access rules of recipient tokens; a token needs a right of the key for each of its scopes."""

from __future__ import annotations

from typing import Final

from notifications.core.rules.access import BOTH, AccessRule
from notifications.core.rules.scopes import Scope

_TOKENS: Final = "/v1/recipients/{user_id}/client-tokens"
RULES: Final = (
    AccessRule(f"POST {_TOKENS}", Scope.RECIPIENTS_WRITE),
    AccessRule(f"DELETE {_TOKENS}", Scope.RECIPIENTS_WRITE, BOTH, "change_recipient"),
    AccessRule(f"POST {_TOKENS} inbox:read", Scope.INBOX_READ),
    AccessRule(f"POST {_TOKENS} inbox:write", Scope.INBOX_WRITE),
    AccessRule(f"POST {_TOKENS} preferences:read", Scope.RECIPIENTS_READ),
    AccessRule(f"POST {_TOKENS} preferences:write", Scope.PREFERENCES_WRITE),
    AccessRule(f"POST {_TOKENS} contacts:write", Scope.CONTACTS_WRITE),
)
