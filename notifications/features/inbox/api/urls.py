"""The URL paths of inboxes."""

from __future__ import annotations

from django.urls import path

from notifications.core.api import operation
from notifications.core.rules import access
from notifications.core.rules.access import AccessRule
from notifications.features.inbox.api import marks, pages

# The stream is no operation of the OpenAPI document: the web process names its URL alone.
access.add([AccessRule("GET /v1/inbox/{user_id}/stream", *pages.READERS)])
urlpatterns = [
    path("v1/inbox/<str:user_id>/stream", pages.InboxStreamView.as_view()),
    *operation.routes(pages, marks),
]
