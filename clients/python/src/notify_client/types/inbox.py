"""Inbox: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict
from uuid import UUID


class InboxAllRequest(TypedDict):
    """The limits of a mark on all messages. An empty object means all messages of the inbox."""

    category: NotRequired[str | None]
    """Messages of this category only."""

    version: NotRequired[int | None]
    """The `version` of the page that the person sees: a message that arrived later stays as it
    is. Absent: every message.
    """


class InboxAnswer(TypedDict):
    """A page of an inbox, newest first."""

    results: list[InboxItem]
    next: str | None
    counts: InboxCounts
    version: int
    """The version of the inbox that the page shows; see `since` of the changes."""

    category_names: dict[str, str]
    """The names of categories and types for recipients, in the first language of the header
    `Accept-Language`, or else in English. Empty without the header; a category without a text
    of an operator has no name here.
    """

    brand: InboxBrand | None
    """Null: neither the producer nor the installation has a brand."""

    stream_url: str | None
    """The server-sent events of this inbox; null: this installation has no live process."""


class InboxBrand(TypedDict):
    """The look of the inbox: of the brand of the key's or the token's producer."""

    name: str
    logo_url: str
    logo_alt: str
    """Text in place of the logo."""

    font: str
    """Font families of CSS."""

    color: str
    """Nearest shade of the brand's colour that can be read on a light inbox."""

    color_on_dark: str
    """Nearest tint of the brand's colour that can be read on a dark inbox."""


class InboxCategoryCounts(TypedDict):
    """The counts of a category."""

    unread: int
    unseen: int


class InboxChanges(TypedDict):
    """The difference between two versions of an inbox."""

    version: int
    """Ask for the next changes with this version."""

    results: list[InboxItem]
    """New and changed messages in their present state.

    A message with `archived_at` or `snoozed_until` has left the tab `inbox`.
    """

    removed: list[str]
    """Messages that left every tab: deleted, expired, withdrawn, or replaced by a newer message
    of the group.
    """

    counts: InboxCounts
    reset: bool
    """`true`: the changes are too many or too old. Load the first page again."""


class InboxCounts(TypedDict):
    """The counts of an inbox, without archived, snoozed and expired messages."""

    unread: int
    unseen: int
    total: int
    categories: dict[str, InboxCategoryCounts]


class InboxItem(TypedDict):
    """A message in an inbox."""

    message_id: str
    """The id of the message, and of the delivery on the channel `in_app`."""

    notification_id: str
    """Deliveries on other channels, such as a push, have the same notification id."""

    type: str
    category: str
    title: str
    body: str
    url: str | None
    """The page that a click on the message opens."""

    image_url: str | None
    actions: list[InboxItemAction]
    data: dict[str, Any]
    """Values of the producer for the app."""

    group: InboxItemGroup | None
    created_at: str
    """Time of arrival in the inbox."""

    expires_at: str | None
    seen_at: str | None
    """Time at which the message was first on a screen."""

    read_at: str | None
    archived_at: str | None
    snoozed_until: str | None
    added_version: int
    """The version of the inbox at the arrival of the message, or at the end of its last snooze.

    Show the messages by this number, then by `message_id`, the highest first.
    """

    version: int
    """The version of the inbox that the last change of the message made."""


class InboxItemAction(TypedDict):
    """A button of a message."""

    id: str
    label: str
    url: str | None
    """The page that the button opens; null: the app reports the press to `POST
    /v1/inbox/{user_id}/{message_id}/actions/{action_id}`.
    """


class InboxItemGroup(TypedDict):
    """The messages with one `collapse_key`, which the newest message stands for."""

    key: str
    size: int
    """Number of messages, the newest included."""


class InboxMarked(TypedDict):
    """The inbox after a mark."""

    counts: InboxCounts
    version: int


class InboxMessagesMarked(TypedDict):
    """The inbox after a mark on several messages."""

    counts: InboxCounts
    version: int
    unknown: list[str]
    """The given ids that are not in this inbox. The other messages are marked."""


class InboxMessagesRequest(TypedDict):
    """The messages to mark."""

    message_ids: Sequence[str | UUID]


class InboxUnreadCount(TypedDict):
    """The counts of an inbox, and their version."""

    unread: int
    unseen: int
    total: int
    categories: dict[str, InboxCategoryCounts]
    version: int
    """Grows by one with each change of the inbox; 0: no message ever came."""


class SnoozeRequest(TypedDict):
    """The end of a snooze."""

    until: str | datetime
    """The message comes back at this instant, at most 30 days ahead."""


class GetInboxQuery(TypedDict, total=False):
    """Parameters of `get_inbox`."""

    category: str
    """Messages of this category only."""

    cursor: str
    """The value of `next` on the previous page."""

    group: str
    """The messages of a group: the value of `group.key`."""

    limit: int
    """Maximum number of results per page. Default: `50`."""

    tab: Literal["inbox", "archived", "snoozed"]
    """The part of the inbox: `inbox`, `archived` or `snoozed` messages. Default: `"inbox"`."""

    unread: bool
    """`true` lists unread messages only. Default: `false`."""


class ListInboxChangesQuery(TypedDict, total=False):
    """Parameters of `list_inbox_changes`."""

    since: int
    """The `version` of the last page or of the last changes."""
