"""The search box of the side menu: pages, messages, recipients, templates and producers.

Unfold finds the lists of models by the names of the models, and keeps the results of a term for
five minutes; the search adds the other entries of the menu by their titles. The search uses indexes
only; the last result opens the term in the activity list, which also scans.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlencode

from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse
from unfold.dataclasses import SearchResult

from notifications.core.admin import menu, model_pages, recipient_names
from notifications.core.models import Producer, Recipient, Template
from notifications.core.store.postgres import contacts_by_address
from notifications.core.store.postgres import search as messages
from notifications.core.store.templates.rows import ONE_OFF

_EACH: Final = 5
"""Results of each kind."""
_SHORTEST: Final = 3
"""Characters below which templates and producers are not searched."""


def search(request: HttpRequest, lower: str) -> list[SearchResult]:
    """Return the results for a term.

    Unfold passes the term in small letters; ids and keys need the letters as typed.
    """
    term = request.GET.get("s", "").strip()
    may = request.user.has_perm
    found: list[SearchResult] = []
    if not term:
        return found
    found += _pages(request, lower.strip())
    if may("notifications.view_recipient"):
        found += _recipients(term, by_address=may("notifications.view_contact"))
    if may("notifications.view_notification") and may("notifications.view_delivery"):
        found += _messages(term)
        page = reverse("admin:notifications_activity")
        found.append(
            SearchResult(
                title=f"All messages with {term}",
                description="Activity",
                link=f"{page}?{urlencode({'q': term})}",
                icon="manage_search",
            )
        )
    if len(term) >= _SHORTEST:
        found += _names(request, term)
    return found


def _pages(request: HttpRequest, lower: str) -> Iterator[SearchResult]:
    """Yield the entries of the menu that unfold does not find by the name of a model."""
    for item in menu.visible_items(request):
        is_found = lower in menu.verbose_name(item).lower()
        if lower in item.title.lower() and not is_found:
            yield SearchResult(
                title=item.title, description="page", link=menu.link(item), icon=item.symbol
            )


def _recipients(term: str, *, by_address: bool) -> Iterator[SearchResult]:
    people = list(Recipient.objects.filter(user_id=term)[:_EACH])
    if by_address and not people:
        contacts = contacts_by_address.of_term(term).select_related("recipient")[:_EACH]
        people = [contact.recipient for contact in contacts]
    for person in people:
        yield SearchResult(
            title=recipient_names.name(person.pk, person.user_id),
            description=f"recipient, {person.get_mode_display()} mode",
            link=reverse("admin:notifications_recipient_change", args=[person.pk]),
            icon="person",
        )


def _messages(term: str) -> Iterator[SearchResult]:
    for hit in messages.find_any(term, limit=_EACH):
        page = reverse("admin:notifications_notification_change", args=[hit.notification_id])
        yield SearchResult(
            title=f"{hit.type} to {hit.user_id}",
            description=f"{hit.channel.label} {hit.status.label}, {hit.created_at:%d %b %H:%M}",
            link=f"{page}#{hit.delivery_id}",
            icon="notifications",
        )


def _names(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    """Yield templates and producers with the term in the name."""
    if request.user.has_perm("notifications.view_template"):
        listed = Q(template_id=term) | Q(template_id__icontains=term) & ~ONE_OFF
        templates = Template.objects.filter(listed)
        for template in templates.order_by("template_id", "-version")[:_EACH]:
            if page := model_pages.change_page(template):
                yield SearchResult(
                    title=str(template), description="template", link=page, icon="description"
                )
    if request.user.has_perm("notifications.view_producer"):
        for producer in Producer.objects.filter(name__icontains=term)[:_EACH]:
            yield SearchResult(
                title=producer.name,
                description="producer",
                link=reverse("admin:notifications_producer_change", args=[producer.pk]),
                icon="dns",
            )
