"""Scopes: the rights that a key may have."""

from __future__ import annotations

from typing import Final

from notifications.core.rules.described import Described


class Scope(Described):
    """A right of a key. A key may also hold `<noun>:*`: every scope of the noun."""

    NOTIFICATIONS_WRITE = (
        "notifications:write",
        "Send and cancel notifications, and write schedules.",
    )
    NOTIFICATIONS_TO = (
        "notifications:to",
        "Give the address of a recipient in place of a user id; an unknown address is registered.",
    )
    NOTIFICATIONS_READ = (
        "notifications:read",
        "Read the notifications and schedules of its own producer.",
    )
    CAMPAIGNS_WRITE = (
        "campaigns:write",
        "Send bulk jobs of its own producer; save audiences, upload files of user ids.",
    )
    CAMPAIGNS_READ = (
        "campaigns:read",
        "Read its own bulk jobs; read and estimate audiences of every producer.",
    )
    RECIPIENTS_WRITE = (
        "recipients:write",
        "Create and change recipients, define attributes, change topics, issue recipient tokens.",
    )
    ERASURES_WRITE = (
        "erasures:write",
        "Erase recipients, and the notifications of every producer to them.",
    )
    ERASURES_READ = "erasures:read", "Read how far an erasure is."
    RECIPIENTS_READ = "recipients:read", "Read recipients, their contacts, preferences and changes."
    CONTACTS_WRITE = (
        "contacts:write",
        "Change where a recipient is reached, and so who reads the next one-time password.",
    )
    PREFERENCES_WRITE = "preferences:write", "Change what a recipient allows."
    INBOX_READ = "inbox:read", "Read the inbox of every recipient, whatever the producer."
    INBOX_WRITE = (
        "inbox:write",
        "Mark, snooze, archive and delete messages in the inbox of every recipient.",
    )
    SUPPRESSIONS_WRITE = (
        "suppressions:write",
        "Enter addresses in the suppression list, and undo entries of its own producer.",
    )
    SUPPRESSIONS_READ = "suppressions:read", "Read the suppression list with every address on it."
    TEMPLATES_WRITE = "templates:write", "Draft versions of templates. Templates are company-wide."
    TEMPLATES_READ = "templates:read", "Read, preview and compare templates."
    TEMPLATES_PUBLISH = (
        "templates:publish",
        "Publish a draft or an earlier version for every producer.",
    )
    BRANDS_WRITE = (
        "brands:write",
        "Change the brand of its own producer: look and sender of every e-mail of the producer.",
    )
    BRANDS_READ = "brands:read", "Read the brand of its own producer."
    OPERATIONS_WRITE = (
        "operations:write",
        "Replay and discard dead letters, set switches, and acknowledge and resolve alerts.",
    )
    OPERATIONS_READ = (
        "operations:read",
        "Search, and read dead letters, replays, switches, alerts, budgets and costs of all.",
    )

    EVENTS_WRITE = "events:write", "Post events of recipients, which series react to."
    ANALYTICS_READ = "analytics:read", "Read the figures of its own producer."
    SECRETS_ROTATE = (
        "secrets:rotate",
        "Rotate the signing secret of a webhook contact, and read the new one.",
    )
    WEBHOOKS_WRITE = (
        "webhooks:write",
        "Create, change and test webhook endpoints of its own producer, and read new secrets.",
    )
    WEBHOOKS_READ = "webhooks:read", "Read the webhook endpoints of its own producer and the calls."
    KEYS_ROTATE = "keys:rotate", "Rotate itself: get a new key that may do the same."

    @property
    def wildcard(self) -> str:
        """Return the wildcard scope above the scope: `notifications:*`."""
        return f"{self.value.partition(':')[0]}:*"


GRANTABLE: Final = frozenset(Scope) | {scope.wildcard for scope in Scope}
"""Every value allowed in a key's `scopes`."""
