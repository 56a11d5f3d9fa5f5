"""The URL paths of inboxes."""

from __future__ import annotations

from django.urls import path

from notifications.features.inbox.api import marks, pages

_INBOX = "v1/inbox/<str:user_id>"
_MESSAGE = f"{_INBOX}/<uuid:message_id>"

urlpatterns = [
    path(_INBOX, pages.InboxView.as_view()),
    path(f"{_INBOX}/unread-count", pages.InboxUnreadCountView.as_view()),
    path(f"{_INBOX}/changes", pages.InboxChangesView.as_view()),
    path(f"{_INBOX}/stream", pages.InboxStreamView.as_view()),
    path(f"{_INBOX}/seen", marks.MessagesSeenView.as_view()),
    path(f"{_INBOX}/read", marks.MessagesReadView.as_view()),
    path(f"{_INBOX}/archive", marks.MessagesArchiveView.as_view()),
    path(f"{_INBOX}/seen-all", marks.AllSeenView.as_view()),
    path(f"{_INBOX}/read-all", marks.AllReadView.as_view()),
    path(f"{_INBOX}/archive-all", marks.AllArchiveView.as_view()),
    path(_MESSAGE, marks.MessageDetailView.as_view()),
    path(f"{_MESSAGE}/actions/<str:action_id>", marks.MessageActionView.as_view()),
    path(f"{_MESSAGE}/seen", marks.MessageSeenView.as_view()),
    path(f"{_MESSAGE}/read", marks.MessageReadView.as_view()),
    path(f"{_MESSAGE}/unread", marks.MessageUnreadView.as_view()),
    path(f"{_MESSAGE}/archive", marks.MessageArchiveView.as_view()),
    path(f"{_MESSAGE}/unarchive", marks.MessageUnarchiveView.as_view()),
    path(f"{_MESSAGE}/snooze", marks.MessageSnoozeView.as_view()),
    path(f"{_MESSAGE}/unsnooze", marks.MessageUnsnoozeView.as_view()),
]
