"""Request and response schemas of the inbox.

The store makes the JSON of items and counts, once for all readers; the response schemas here
describe that JSON in the OpenAPI document, and the tests of the document compare the two.
"""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import Field

from notifications.core.api.base_view import MAX_ID
from notifications.core.api.pagination import PageQuery
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.rules.request import Instant, Text
from notifications.features.inbox.rules.words import InboxTab

MAX_MARKED: Final = 200
"""Messages in one call."""
LONGEST_SNOOZE: Final = dt.timedelta(days=30)

Category = Annotated[Text, Field(min_length=1, max_length=64)]
InboxCursor = Annotated[
    str,
    Field(pattern=r"^[0-9]{1,18}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", max_length=55),
]
"""The text of `features.inbox.rows.items.Cursor`."""
InboxVersion = Annotated[int, Field(ge=0, le=MAX_ID)]


class InboxPageQuery(PageQuery):
    """Filters of an inbox."""

    cursor: InboxCursor | None = None
    """The value of `next` on the previous page."""
    tab: InboxTab = InboxTab.INBOX
    """The part of the inbox: `inbox`, `archived` or `snoozed` messages."""
    unread: bool = False
    """`true` lists unread messages only."""
    category: Category | None = None
    """Messages of this category only."""
    group: Annotated[Text, Field(min_length=1, max_length=255)] | None = None
    """The messages of a group: the value of `group.key`."""


class InboxChangesQuery(RequestModel):
    """The state that the caller has."""

    since: InboxVersion
    """The `version` of the last page or of the last changes."""


class SnoozeRequest(RequestModel):
    """The end of a snooze."""

    until: Instant
    """The message comes back at this instant, at most 30 days ahead."""


class InboxMessagesRequest(RequestModel):
    """The messages to mark."""

    message_ids: Annotated[list[UUID], Field(min_length=1, max_length=MAX_MARKED)]


class InboxAllRequest(RequestModel):
    """The limits of a mark on all messages. An empty object means all messages of the inbox."""

    category: Category | None = None
    """Messages of this category only."""
    version: InboxVersion | None = None
    """The `version` of the page that the person sees: a message that arrived later stays as it
    is. Absent: every message."""


class InboxItemAction(ResponseModel):
    """A button of a message."""

    id: str
    label: str
    url: str | None
    """The page that the button opens; null: the app reports the press to
    `POST /v1/inbox/{user_id}/{message_id}/actions/{action_id}`."""


class InboxItemGroup(ResponseModel):
    """The messages with one `collapse_key`, which the newest message stands for."""

    key: str
    size: int
    """Number of messages, the newest included."""


class InboxItem(ResponseModel):
    """A message in an inbox."""

    message_id: UUID
    """The id of the message, and of the delivery on the channel `in_app`."""
    notification_id: UUID
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
    created_at: dt.datetime
    """Time of arrival in the inbox."""
    expires_at: dt.datetime | None
    seen_at: dt.datetime | None
    """Time at which the message was first on a screen."""
    read_at: dt.datetime | None
    archived_at: dt.datetime | None
    snoozed_until: dt.datetime | None
    added_version: int
    """The version of the inbox at the arrival of the message, or at the end of its last snooze.
    Show the messages by this number, then by `message_id`, the highest first."""
    version: int
    """The version of the inbox that the last change of the message made."""


class InboxCategoryCounts(ResponseModel):
    """The counts of a category."""

    unread: int
    unseen: int


class InboxCounts(ResponseModel):
    """The counts of an inbox, without archived, snoozed and expired messages."""

    unread: int
    unseen: int
    total: int
    categories: dict[str, InboxCategoryCounts]


class InboxUnreadCount(InboxCounts):
    """The counts of an inbox, and their version."""

    version: int
    """Grows by one with each change of the inbox; 0: no message ever came."""


class InboxBrand(ResponseModel):
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


class InboxAnswer(ResponseModel):
    """A page of an inbox, newest first."""

    results: list[InboxItem]
    next: str | None
    counts: InboxCounts
    version: int
    """The version of the inbox that the page shows; see `since` of the changes."""
    category_names: dict[str, str]
    """The names of categories and types for recipients, in the first language of the header
    `Accept-Language`, or else in English. Empty without the header; a category without a text of an
    operator has no name here."""
    brand: InboxBrand | None
    """Null: neither the producer nor the installation has a brand."""
    stream_url: str | None
    """The server-sent events of this inbox; null: this installation has no live process."""


class InboxChanges(ResponseModel):
    """The difference between two versions of an inbox."""

    version: int
    """Ask for the next changes with this version."""
    results: list[InboxItem]
    """New and changed messages in their present state. A message with `archived_at` or
    `snoozed_until` has left the tab `inbox`."""
    removed: list[UUID]
    """Messages that left every tab: deleted, expired, withdrawn, or replaced by a newer message of
    the group."""
    counts: InboxCounts
    reset: bool
    """`true`: the changes are too many or too old. Load the first page again."""


class InboxMarked(ResponseModel):
    """The inbox after a mark."""

    counts: InboxCounts
    version: int


class InboxMessagesMarked(InboxMarked):
    """The inbox after a mark on several messages."""

    unknown: list[UUID]
    """The given ids that are not in this inbox. The other messages are marked."""
