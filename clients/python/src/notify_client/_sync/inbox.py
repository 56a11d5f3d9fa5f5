"""The inbox of a recipient."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Unpack
from uuid import UUID

from notify_client import _call
from notify_client._answer import Tagged
from notify_client._sync.engine import Engine, Pages
from notify_client.types import (
    GetInboxQuery,
    InboxAllRequest,
    InboxAnswer,
    InboxChanges,
    InboxItem,
    InboxMarked,
    InboxMessagesMarked,
    InboxUnreadCount,
)


class Inbox:
    """`/v1/inbox`: the in-app messages of a recipient."""

    def __init__(self, engine: Engine) -> None:
        """See `Client.inbox`."""
        self._engine = engine

    def list(self, user_id: str, **query: Unpack[GetInboxQuery]) -> Pages[InboxItem]:
        """List messages, newest first."""
        return Pages(self._engine, _call.path("inbox", user_id), {**query})

    def page(self, user_id: str, **query: Unpack[GetInboxQuery]) -> InboxAnswer:
        """Return a page with the counts and the version of the inbox."""
        return self._engine.value(_call.get(_call.path("inbox", user_id), query), has="results")

    def page_tagged(
        self, user_id: str, *, if_none_match: str | None = None, **query: Unpack[GetInboxQuery]
    ) -> Tagged[InboxAnswer] | None:
        """Return a page and the ETag; None if the ETag is still `if_none_match`."""
        target = _call.path("inbox", user_id)
        return self._engine.read_tagged(
            _call.get(target, query, if_none_match=if_none_match), has="results"
        )

    def unread_count(self, user_id: str) -> InboxUnreadCount:
        """Return the counts of the inbox."""
        return self._engine.value(
            _call.get(_call.path("inbox", user_id, "unread-count")), has="unread"
        )

    def unread_count_tagged(
        self, user_id: str, *, if_none_match: str | None = None
    ) -> Tagged[InboxUnreadCount] | None:
        """Return the counts and the ETag; None if the ETag is still `if_none_match`."""
        target = _call.path("inbox", user_id, "unread-count")
        return self._engine.read_tagged(
            _call.get(target, if_none_match=if_none_match), has="unread"
        )

    def changes(self, user_id: str, *, since: int) -> InboxChanges:
        """Return the changes since a version; with `reset` the first page is to be read again."""
        target = _call.path("inbox", user_id, "changes")
        return self._engine.value(_call.get(target, {"since": since}), has="version")

    def mark_seen(self, user_id: str, message_id: str | UUID) -> InboxMarked:
        """Mark a message as seen: the message was on a screen."""
        return self._mark(user_id, message_id, "seen")

    def mark_read(self, user_id: str, message_id: str | UUID) -> InboxMarked:
        """Mark a message as read, and so as seen."""
        return self._mark(user_id, message_id, "read")

    def mark_unread(self, user_id: str, message_id: str | UUID) -> InboxMarked:
        """Mark a message as unread."""
        return self._mark(user_id, message_id, "unread")

    def archive(self, user_id: str, message_id: str | UUID) -> InboxMarked:
        """Move a message to the tab `archived`."""
        return self._mark(user_id, message_id, "archive")

    def unarchive(self, user_id: str, message_id: str | UUID) -> InboxMarked:
        """Move an archived message back to the tab `inbox`."""
        return self._mark(user_id, message_id, "unarchive")

    def unsnooze(self, user_id: str, message_id: str | UUID) -> InboxMarked:
        """Bring a snoozed message back now."""
        return self._mark(user_id, message_id, "unsnooze")

    def record_action(self, user_id: str, message_id: str | UUID, action_id: str) -> InboxMarked:
        """Report the press of a button without a URL, and mark the message as read."""
        target = _call.path("inbox", user_id, message_id, "actions", action_id)
        return self._engine.value(_call.post(target, {}), has="counts")

    def snooze(self, user_id: str, message_id: str | UUID, *, until: str | datetime) -> InboxMarked:
        """Move a message to the tab `snoozed` until an instant, at most 30 days ahead."""
        target = _call.path("inbox", user_id, message_id, "snooze")
        return self._engine.value(_call.post(target, {"until": until}), has="counts")

    def delete(self, user_id: str, message_id: str | UUID) -> InboxMarked:
        """Delete a message from the inbox for good."""
        target = _call.path("inbox", user_id, message_id)
        return self._engine.value(_call.write("DELETE", target), has="counts")

    def mark_many_seen(
        self, user_id: str, message_ids: Iterable[str | UUID]
    ) -> InboxMessagesMarked:
        """Mark up to 200 messages as seen. The answer names unknown ids."""
        return self._mark_many(user_id, message_ids, "seen")

    def mark_many_read(
        self, user_id: str, message_ids: Iterable[str | UUID]
    ) -> InboxMessagesMarked:
        """Mark up to 200 messages as read. The answer names unknown ids."""
        return self._mark_many(user_id, message_ids, "read")

    def archive_many(self, user_id: str, message_ids: Iterable[str | UUID]) -> InboxMessagesMarked:
        """Archive up to 200 messages. The answer names unknown ids."""
        return self._mark_many(user_id, message_ids, "archive")

    def mark_all_seen(self, user_id: str, **limits: Unpack[InboxAllRequest]) -> InboxMarked:
        """Mark all messages as seen; `limits` narrows them."""
        return self._engine.value(
            _call.post(_call.path("inbox", user_id, "seen-all"), limits), has="counts"
        )

    def mark_all_read(self, user_id: str, **limits: Unpack[InboxAllRequest]) -> InboxMarked:
        """Mark all messages as read; `limits` narrows them."""
        return self._engine.value(
            _call.post(_call.path("inbox", user_id, "read-all"), limits), has="counts"
        )

    def archive_all(self, user_id: str, **limits: Unpack[InboxAllRequest]) -> InboxMarked:
        """Archive all messages of the tab `inbox`; `limits` narrows them."""
        return self._engine.value(
            _call.post(_call.path("inbox", user_id, "archive-all"), limits), has="counts"
        )

    def _mark(self, user_id: str, message_id: str | UUID, mark: str) -> InboxMarked:
        target = _call.path("inbox", user_id, message_id, mark)
        return self._engine.value(_call.post(target, {}), has="counts")

    def _mark_many(
        self, user_id: str, message_ids: Iterable[str | UUID], mark: str
    ) -> InboxMessagesMarked:
        body = {"message_ids": [*message_ids]}
        return self._engine.value(
            _call.post(_call.path("inbox", user_id, mark), body), has="counts"
        )
