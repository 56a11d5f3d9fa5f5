"""The JSON of items and counts, as the API, the stream and the stored page 1 have it.

Values are ready for orjson, which writes ids and aware datetimes by itself; with `OPT_UTC_Z` an
instant ends with Z.
"""

from __future__ import annotations

from typing import Any

from notifications.features.inbox.rows.items import Changes, Counts, InboxPage, Item


def item(item: Item) -> dict[str, Any]:
    """Return an item; empty URLs are null, and an item without a collapse key has no group."""
    key = item.collapse_key
    return {
        "message_id": item.id,
        "notification_id": item.notification_id,
        "type": item.type,
        "category": item.category,
        "title": item.title,
        "body": item.body,
        "url": item.url or None,
        "image_url": item.image_url or None,
        "actions": [action | {"url": action.get("url") or None} for action in item.actions],
        "data": item.data,
        "group": {"key": key, "size": item.group_size} if key else None,
        "created_at": item.created_at,
        "expires_at": item.expires_at,
        "seen_at": item.seen_at,
        "read_at": item.read_at,
        "archived_at": item.archived_at,
        "snoozed_until": item.snoozed_until,
        "added_version": item.added_version,
        "version": item.version,
    }


def counts(counts: Counts) -> dict[str, Any]:
    """Return the counts without the version."""
    return {
        "unread": counts.unread,
        "unseen": counts.unseen,
        "total": counts.total,
        "categories": {
            name: {"unread": each.unread, "unseen": each.unseen}
            for name, each in counts.categories.items()
        },
    }


def page(page: InboxPage) -> dict[str, Any]:
    """Return a page with the counts and the version."""
    return {
        "results": [item(each) for each in page.items],
        "next": None if page.next is None else str(page.next),
        "counts": counts(page.counts),
        "version": page.version,
    }


def changes(changes: Changes) -> dict[str, Any]:
    """Return the changes since a version."""
    return {
        "version": changes.version,
        "results": [item(each) for each in changes.items],
        "removed": list(changes.removed),
        "counts": counts(changes.counts),
    }
