"""Facts and examples of the operations of inboxes, for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from notifications.core.api.examples.shape import (
    ANOTHER_MESSAGE,
    MESSAGE,
    SOON,
    TAG,
    USER,
    Example,
    Examples,
)

TAGS: Final[Mapping[str, str]] = {
    "Inbox": "The in-app messages of a recipient, for producers and for the recipient's apps.",
}
PATH_PARAMETERS: Final[Mapping[str, str]] = {
    "action_id": "The `id` of an action of the message.",
    "message_id": "The `message_id` of a message in the inbox.",
}
_USER: Final = {"user_id": USER}
_FIRST: Final = {"user_id": USER, "message_id": MESSAGE}
_SECOND: Final = {"user_id": USER, "message_id": ANOTHER_MESSAGE}

EXAMPLES: Final[Examples] = {
    "get_inbox": {
        "minimal": Example(summary="The newest messages", status=200, path=_USER),
        "usual": Example(
            summary="Ten unread messages about orders",
            status=200,
            path=_USER,
            query={"unread": "true", "category": "orders", "limit": 10},
        ),
        "archived": Example(
            summary="Archived messages before a message",
            status=200,
            path=_USER,
            query={"tab": "archived", "cursor": f"3.{MESSAGE}"},
        ),
        "unchanged": Example(
            summary="Only if the inbox has changed",
            status=304,
            path=_USER,
            headers={"If-None-Match": TAG},
        ),
    },
    "get_inbox_unread_count": {
        "minimal": Example(summary="The counts for a badge", status=200, path=_USER),
        "usual": Example(
            summary="Only if the inbox has changed",
            status=304,
            path=_USER,
            headers={"If-None-Match": TAG},
        ),
    },
    "list_inbox_changes": {
        "minimal": Example(
            summary="The changes since the last page", status=200, path=_USER, query={"since": 1}
        ),
        "empty": Example(
            summary="The changes of an app that was just installed",
            status=200,
            path=_USER,
            query={"since": 0},
        ),
    },
    "mark_message_seen": {
        "minimal": Example(summary="The message is on the screen", status=200, path=_FIRST),
        "another": Example(summary="Another message", status=200, path=_SECOND),
    },
    "mark_message_read": {
        "minimal": Example(summary="The person opened the message", status=200, path=_FIRST),
        "another": Example(summary="Another message", status=200, path=_SECOND),
    },
    "mark_message_unread": {
        "minimal": Example(
            summary="The person will read the message again", status=200, path=_FIRST
        ),
        "another": Example(summary="Another message", status=200, path=_SECOND),
    },
    "archive_message": {
        "minimal": Example(summary="The person is done with the message", status=200, path=_FIRST),
        "another": Example(summary="Another message", status=200, path=_SECOND),
    },
    "unarchive_message": {
        "minimal": Example(summary="The message is needed again", status=200, path=_FIRST),
        "another": Example(summary="Another message", status=200, path=_SECOND),
    },
    "unsnooze_message": {
        "minimal": Example(summary="The message comes back now", status=200, path=_FIRST),
        "another": Example(summary="Another message", status=200, path=_SECOND),
    },
    "delete_message": {
        "minimal": Example(summary="The person deletes the message", status=200, path=_FIRST),
        "another": Example(summary="Another message", status=200, path=_SECOND),
    },
    "record_message_action": {
        "minimal": Example(
            summary="The person accepted an invitation",
            status=200,
            path={**_FIRST, "action_id": "accept"},
        ),
        "another": Example(
            summary="The person declined another invitation",
            status=200,
            path={**_SECOND, "action_id": "decline"},
        ),
    },
    "snooze_message": {
        "minimal": Example(
            summary="The message comes back on the next morning",
            status=200,
            path=_FIRST,
            body={"until": SOON},
        ),
        "another": Example(
            summary="Another message",
            status=200,
            path=_SECOND,
            body={"until": SOON},
        ),
    },
    "mark_messages_seen": {
        "minimal": Example(
            summary="One message", status=200, path=_USER, body={"message_ids": [MESSAGE]}
        ),
        "usual": Example(
            summary="The messages on the screen",
            status=200,
            path=_USER,
            body={"message_ids": [MESSAGE, ANOTHER_MESSAGE]},
        ),
    },
    "mark_messages_read": {
        "minimal": Example(
            summary="One message", status=200, path=_USER, body={"message_ids": [MESSAGE]}
        ),
        "usual": Example(
            summary="The messages of a group",
            status=200,
            path=_USER,
            body={"message_ids": [MESSAGE, ANOTHER_MESSAGE]},
        ),
    },
    "archive_messages": {
        "minimal": Example(
            summary="One message", status=200, path=_USER, body={"message_ids": [MESSAGE]}
        ),
        "usual": Example(
            summary="The selected messages",
            status=200,
            path=_USER,
            body={"message_ids": [MESSAGE, ANOTHER_MESSAGE]},
        ),
    },
    "mark_all_messages_seen": {
        "minimal": Example(summary="All messages", status=200, path=_USER, body={}),
        "usual": Example(
            summary="The messages about orders that the page shows",
            status=200,
            path=_USER,
            body={"category": "orders", "version": 47},
        ),
    },
    "mark_all_messages_read": {
        "minimal": Example(summary="All messages", status=200, path=_USER, body={}),
        "usual": Example(
            summary="The messages about orders that the page shows",
            status=200,
            path=_USER,
            body={"category": "orders", "version": 47},
        ),
    },
    "archive_all_messages": {
        "minimal": Example(summary="All messages", status=200, path=_USER, body={}),
        "usual": Example(
            summary="The messages about orders that the page shows",
            status=200,
            path=_USER,
            body={"category": "orders", "version": 47},
        ),
    },
}
