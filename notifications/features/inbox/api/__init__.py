"""Operations on inboxes: pages, changes, counts and marks."""

from collections.abc import Mapping
from typing import Final

TAGS: Final[Mapping[str, str]] = {
    "Inbox": "The in-app messages of a recipient, for producers and for the recipient's apps.",
}
PATH_PARAMETERS: Final[Mapping[str, str]] = {
    "action_id": "The `id` of an action of the message.",
    "message_id": "The `message_id` of a message in the inbox.",
}
