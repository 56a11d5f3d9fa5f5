"""The side menu of the admin: groups by task, the most urgent tasks first.

A group shows the pages of each day; its rare pages are folded below "More", and a group of rare
pages is folded as a whole. The search box finds each page by its title.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from notifications.core import conf, feature
from notifications.core.feature import MenuEntry


class Item(NamedTuple):
    """An entry of the menu."""

    title: str
    symbol: str
    """Name of the Material symbol."""
    model: str
    """Model or page; `app.model` is a model of another Django app."""
    page: str = ""
    """Name of the URL of a feature's page."""
    right: str = ""
    """Permission that opens the page; empty: the view permission of the model."""


class Group(NamedTuple):
    """The entries of a task."""

    title: str
    items: tuple[Item, ...]
    folded: tuple[Item, ...]
    """Rare entries."""


_CORE: Final = (
    Group(
        "Watch",
        (
            Item("Overview", "speed", "index"),
            Item("Activity", "notifications", "activity"),
            Item("Alerts", "warning", "alert"),
        ),
        (
            Item("Workers", "conveyor_belt", "workers"),
            Item("System", "memory", "system"),
            Item("Sweep runs", "mop", "sweeprun"),
            Item("Deploys", "rocket_launch", "deploy"),
        ),
    ),
    Group(
        "Repair",
        (
            Item("Dead letters", "skull", "deadletter"),
            Item("Breakers", "electrical_services", "breaker"),
            Item("Switches", "pause_circle", "switch"),
            Item("Providers", "cell_tower", "providers"),
        ),
        (
            Item("Rejected requests", "block", "rejected"),
            Item("Replay jobs", "replay", "replayjob"),
            Item("Ordering keys", "format_list_numbered", "orderingkey"),
            Item("Webhook calls", "call_made", "webhookattempt"),
        ),
    ),
    Group(
        "Send",
        (),
        (Item("Attributes", "label", "attribute"),),
    ),
    Group(
        "Texts",
        (
            Item("Notification types", "alt_route", "notificationtype"),
            Item("Preference topics", "translate", "topictext"),
        ),
        (Item("Short links", "link", "shortlink"),),
    ),
    Group(
        "People",
        (
            Item("Recipients", "person", "recipient"),
            Item("Contacts", "contact_mail", "contact"),
            Item("Suppressions", "do_not_disturb_on", "suppression"),
        ),
        (Item("Erasures", "person_remove", "erasurejob"),),
    ),
    Group(
        "Settings",
        (),
        (
            Item("Producers", "dns", "producer"),
            Item("API keys", "key", "apikey"),
            Item("Webhook endpoints", "webhook", "webhookendpoint"),
            Item("Alert destinations", "notifications_active", "alertdestination"),
            Item("Provider routes", "fork_right", "providerroute"),
            Item("Provider rate limits", "speed", "providerpace"),
            Item("Prices", "sell", "price"),
            Item("Retry presets", "timer", "retrypreset"),
            Item("Periodic tasks", "timer", "django_celery_beat.periodictask"),
        ),
    ),
    Group(
        "Access",
        (),
        (
            Item("Users", "manage_accounts", "auth.user"),
            Item("Audit log", "policy", "auditentry"),
            Item("Groups", "groups", "auth.group"),
            Item("Sessions", "devices", "signin"),
            Item("Second factor", "password", "second_factor"),
        ),
    ),
)

_PAGES: Final = {
    "index": "admin:index",
    "activity": "admin:notifications_activity",
    "providers": "admin:notifications_providers",
    "workers": "admin:notifications_workers",
    "second_factor": "admin:second_factor",
    "system": "admin:monitoring_system",
}
"""Pages which are not the list of a model."""
_MODELS: Final = {
    "activity": "notification",
    "providers": "providerroute",
    "system": "sweeprun",
    "workers": "delivery",
}
"""Page -> the model whose view permission opens the page."""
_OPEN: Final = frozenset({"index", "second_factor", "signin"})
"""Items visible to all operators."""


@functools.cache
def groups() -> tuple[Group, ...]:
    """Return the groups, each with the entries of the core before those of the features."""
    added = [entry for each in feature.all_features() for entry in each.menu]
    return tuple(
        Group(
            group.title,
            (*group.items, *_items_of(added, group.title, is_folded=False)),
            (*group.folded, *_items_of(added, group.title, is_folded=True)),
        )
        for group in _CORE
    )


def _items_of(entries: Iterable[MenuEntry], group: str, *, is_folded: bool) -> Iterator[Item]:
    for entry in entries:
        if (entry.group, entry.is_folded) == (group, is_folded):
            yield Item(entry.title, entry.symbol, entry.model, entry.page, entry.right)


def items() -> Iterator[Item]:
    """Yield the entries of all groups."""
    for group in groups():
        yield from (*group.items, *group.folded)


def visible_items(request: HttpRequest) -> Iterator[Item]:
    """Yield the entries that the operator may view."""
    return (item for item in items() if _may_view(request, item.model, item.right))


def link(item: Item) -> str:
    """Return the address of the page of an entry."""
    if page := item.page or _PAGES.get(item.model):
        return reverse(page)
    app, name = _names(item.model)
    return reverse(f"admin:{app}_{name}_changelist")


def verbose_name(item: Item) -> str:
    """Return the name by which unfold finds the list of a model; empty for another page."""
    if item.page or item.model in _PAGES:
        return ""
    model = apps.get_model(*_names(item.model))
    return str(admin.site.get_model_admin(model).opts.verbose_name_plural)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the groups for the template `unfold/helpers/app_list.html`.

    An entry without view permission is left out, and so is a group without an entry.
    """
    may_see = set(visible_items(request))
    current = _current(request)
    shown: list[dict[str, Any]] = [
        {
            "title": group.title,
            "items": [_entry(item, current) for item in group.items if item in may_see],
            "folded": [_entry(item, current) for item in group.folded if item in may_see],
        }
        for group in groups()
    ]
    flower = conf.current().flower_url
    if flower and _may_view(request, "django_celery_beat.periodictask"):
        shown[0]["folded"].append({
            "title": "Flower",
            "icon": "local_florist",
            "link": flower,
            "active": False,
        })
    for group in shown:
        group["has_active"] = any(item["active"] for item in group["folded"])
    return [group for group in shown if group["items"] or group["folded"]]


def _entry(item: Item, current: str) -> dict[str, Any]:
    address = link(item)
    return {
        "title": item.title,
        "icon": item.symbol,
        "link": address,
        "active": address == current,
    }


def _current(request: HttpRequest) -> str:
    """Return the link of the entry to which a page belongs: the longest link above the page."""
    links = {link(item) for item in items()}
    links.discard(reverse("admin:index"))
    above = [each for each in links if request.path.startswith(each)]
    return max(above, key=len, default=request.path)


def _names(model: str) -> tuple[str, str]:
    app, _, name = model.rpartition(".")
    return app or "notifications", name


def _may_view(request: HttpRequest, model: str, right: str = "") -> bool:
    app, name = _names(_MODELS.get(model, model))
    return model in _OPEN or bool(request.user.has_perm(f"{app}.{right or f'view_{name}'}"))
