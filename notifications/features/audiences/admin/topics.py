"""Topics: the list, and the page with the number of subscribers, a search and a part of the list.

The number is exact or an estimate, within a second for any size; the list shows a bounded part.
"""

from __future__ import annotations

from typing import Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from notifications.core.admin import base, recipient_names
from notifications.core.models import Recipient, Topic, TopicSubscriber
from notifications.core.rules.lane import Mode
from notifications.features.audiences.rows import estimates, topics
from notifications.features.audiences.rules import nodes

SHOWN: Final = 50
"""Subscribers of a page."""
_MAX_ID: Final = 2**63 - 1


@admin.register(Topic)
class TopicAdmin(base.ReadOnlyAdmin):
    """Topics by name; producers change the subscribers through the API."""

    list_display = ("name", "mode", "created_by", "created_at")
    list_filter = ("mode",)
    search_fields = ("name__istartswith",)
    paginator = base.BoundedPaginator
    ordering = ("name",)
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Topic]:
        """Leave out deleted topics."""
        rows: QuerySet[Topic] = super().get_queryset(request).filter(deleted_at=None)
        return rows

    @base.own_page
    def change_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the size of a topic, and the subscribers behind `?after=` or the one of `?q=`.

        Raises:
            Http404: the topic does not exist.
        """
        found = self.get_object(request, object_id)
        topic = get_object_or_404(Topic, pk=found and found.pk)
        may_see = request.user.has_perm("notifications.view_recipient")
        after, term = request.GET.get("after", ""), request.GET.get("q", "").strip()
        start = min(int(after), _MAX_ID) if after.isdecimal() and after.isascii() else 0
        rows = topics.subscribers(topic, after=start, limit=SHOWN + 1) if may_see else []
        context = {
            "topic": topic,
            "size": estimates.estimate(nodes.InTopic(topic.name), mode=Mode(topic.mode)),
            "may_see": may_see,
            "rows": list(recipient_names.names(dict(rows[:SHOWN])).items()),
            "following": rows[SHOWN - 1][0] if len(rows) > SHOWN else None,
            "term": term,
            "answer": _search(topic, term) if term and may_see else "",
        }
        return base.page(self, request, "audiences/topic.html", title=topic.name, context=context)


def _search(topic: Topic, user_id: str) -> str:
    person = Recipient.objects.filter(mode=topic.mode, user_id=user_id[:255]).first()
    if person is None:
        return f"No recipient has the user id {user_id}."
    subscribed = TopicSubscriber.objects.filter(topic_id=topic.pk, recipient_id=person.pk)
    return f"{user_id} is {'' if subscribed.exists() else 'not '}subscribed."
