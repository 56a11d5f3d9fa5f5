"""A recipient's inbox in the recipient's view, for operators, without a change.

The page has the newest items of a tab, drawn like the web component, with states.

Reads mark no item as seen, so neither the recipient's badge nor a delivery changes. The page shows
texts of messages, so the page needs the rights to view notifications and deliveries, addresses in a
text are masked as on the page of a message, and every view is audited.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from zlib import crc32

from django.http import HttpRequest

from notifications.core import clock
from notifications.core.admin import addresses, recipient_names, recipient_page
from notifications.core.models import Recipient
from notifications.core.store.cached import topic_texts
from notifications.features.inbox.rows import reads
from notifications.features.inbox.rows.items import InboxQuery, Item
from notifications.features.inbox.rules.words import InboxTab
from providers.contract import Channel

SHOWN: Final = 100
"""Items of a tab on the page."""
_COLOURS: Final = 6
"""Colours of the letters in place of images."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An item with texts for display."""

    item: Item
    title: str
    body: str
    url: str
    image_url: str
    labels: tuple[str, ...]
    """Labels of the buttons."""
    state: str
    topic: str
    """The name of the category for recipients, or of the type of an item without one."""

    @property
    def colour(self) -> int:
        """Return the number of the letter's colour."""
        return colour_of(self.item.category or self.item.type)

    @property
    def others(self) -> int:
        """Return the number of further items of the group."""
        return max(0, self.item.group_size - 1)

    @property
    def times(self) -> list[tuple[str, dt.datetime]]:
        """Return the known times of the item's states, by name."""
        return times_of(self.item)


def times_of(item: Item) -> list[tuple[str, dt.datetime]]:
    """Return the known times of an item's states, by name."""
    named = {
        "seen": item.seen_at,
        "read": item.read_at,
        "archived": item.archived_at,
        "snoozed until": item.snoozed_until,
        "expires": item.expires_at,
    }
    return [(name, at) for name, at in named.items() if at is not None]


def may_view(request: HttpRequest) -> bool:
    """Return True if the operator may see the texts of messages."""
    return all(
        request.user.has_perm(f"notifications.view_{name}")
        for name in ("recipient", "notification", "delivery")
    )


def context(request: HttpRequest, person: Recipient) -> dict[str, Any]:
    """Return the template context of the page; `?tab=` chooses the tab."""
    asked = request.GET.get("tab", "")
    tab = InboxTab(asked) if asked in set(InboxTab) else InboxTab.INBOX
    page = reads.page(person.pk, query=InboxQuery(tab=tab), limit=SHOWN)
    return {
        "person": person,
        "name": recipient_names.name(person.pk, person.user_id),
        "clock": recipient_page.clock_of(person),
        "now": clock.now(),
        "tab": tab,
        "tabs": list(InboxTab),
        "counts": page.counts,
        "categories": [
            (topic_texts.words(name, locale=person.locale).name if name else "none", count)
            for name, count in page.counts.categories.items()
        ],
        "rows": [
            _row(item, partial(addresses.text_for, request), locale=person.locale)
            for item in page.items
        ],
        "shown": SHOWN,
        "has_more": page.next is not None,
        "channel": int(Channel.IN_APP),
    }


def state_of(item: Item, *, now: dt.datetime) -> str:
    """Return the state of an item in words."""
    if item.archived_at is not None:
        return "archived"
    if item.snoozed_until is not None and item.snoozed_until > now:
        return "snoozed"
    if item.read_at is not None:
        return "read"
    return "seen" if item.seen_at is not None else "new"


def colour_of(topic: str) -> int:
    """Return the number of a topic's colour."""
    return crc32(topic.encode()) % _COLOURS


def _row(item: Item, shown: Callable[[str], str], *, locale: str) -> Row:
    return Row(
        item=item,
        title=shown(item.title),
        body=shown(item.body),
        url=shown(item.url),
        image_url=shown(item.image_url),
        labels=tuple(shown(str(action.get("label", ""))) for action in item.actions),
        state=state_of(item, now=clock.now()),
        topic=topic_texts.words(item.category or item.type, locale=locale).name,
    )
