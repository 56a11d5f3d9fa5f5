"""Examples of the operations on recipient tokens."""

from __future__ import annotations

from typing import Final

from notifications.core.api.examples.shape import USER, Example, Examples

TAGS: Final[dict[str, str]] = {"Tokens": "Tokens for the apps and browsers of recipients."}
PATH_PARAMETERS: Final[dict[str, str]] = {}

_USER: Final = {"user_id": USER}
EXAMPLES: Final[Examples] = {
    "issue_client_token": {
        "minimal": Example(
            summary="A token for an hour",
            status=201,
            path=_USER,
            body={},
        ),
        "usual": Example(
            summary="A token for the inbox and for receipts, for a day",
            status=201,
            path=_USER,
            body={
                "expires_in_seconds": 86_400,
                "scopes": ["inbox:read", "inbox:write", "receipts:write"],
            },
        ),
    },
    "revoke_client_tokens": {
        "minimal": Example(summary="Sign the recipient out everywhere", status=204, path=_USER),
        "usual": Example(summary="After a token was stolen", status=204, path=_USER),
    },
}
