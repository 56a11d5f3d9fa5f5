"""The side menu of the admin, ordered by urgency for operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse

from notifications import conf

_MENU: Final = (
    (
        "Now",
        (
            ("Overview", "speed", "index"),
            ("Dead letters", "skull", "deadletter"),
            ("Alerts", "warning", "alert"),
            ("Breakers", "electrical_services", "breaker"),
        ),
    ),
    (
        "Messages",
        (
            ("Notifications", "notifications", "notification"),
            ("Deliveries", "outgoing_mail", "delivery"),
            ("Schedules", "event_repeat", "schedule"),
            ("Ordering keys", "format_list_numbered", "orderingkey"),
            ("Replay jobs", "replay", "replayjob"),
            ("Rejected requests", "block", "rejected"),
        ),
    ),
    (
        "Content",
        (
            ("Templates", "description", "template"),
            ("Template history", "history", "templateevent"),
            ("Notification types", "alt_route", "notificationtype"),
            ("Retry presets", "timer", "retrypreset"),
            ("Short links", "link", "shortlink"),
        ),
    ),
    (
        "People and producers",
        (
            ("Recipients", "person", "recipient"),
            ("Contacts", "contact_mail", "contact"),
            ("Suppressions", "do_not_disturb_on", "suppression"),
            ("Producers", "dns", "producer"),
            ("API keys", "key", "apikey"),
            ("Webhook endpoints", "webhook", "webhookendpoint"),
            ("Webhook calls", "call_made", "webhookattempt"),
        ),
    ),
    (
        "Operators",
        (
            ("Audit log", "policy", "auditentry"),
            ("Sessions", "devices", "signin"),
            ("Second factor", "password", "second_factor"),
            ("Users", "manage_accounts", "auth.user"),
            ("Groups", "groups", "auth.group"),
        ),
    ),
    (
        "Infrastructure",
        (
            ("Providers", "cell_tower", "providers"),
            ("Provider routes", "fork_right", "providerroute"),
            ("Provider rate limits", "speed", "providerpace"),
            ("Periodic tasks", "timer", "django_celery_beat.periodictask"),
            ("Sweep runs", "mop", "sweeprun"),
        ),
    ),
)
"""Group -> (title, symbol, model or page); `app.model` is a model of another Django app."""

_PAGES: Final = {
    "index": "admin:index",
    "providers": "admin:notifications_providers",
    "second_factor": "admin:second_factor",
}
"""Pages which are not the list of a model."""
_OPEN: Final = frozenset({"index", "second_factor", "signin"})
"""Items visible to all operators."""


def navigation(_request: HttpRequest) -> list[dict[str, Any]]:
    """Return the menu for unfold; items without view permission are hidden."""
    groups: list[dict[str, Any]] = [
        {
            "title": group,
            "items": [
                {
                    "title": title,
                    "icon": icon,
                    "link": _link(model),
                    "permission": _may_view(model),
                }
                for title, icon, model in items
            ],
        }
        for group, items in _MENU
    ]
    if flower := conf.current().flower_url:
        groups[-1]["items"].append({
            "title": "Flower",
            "icon": "local_florist",
            "link": flower,
            "permission": _may_view("django_celery_beat.periodictask"),
        })
    return groups


def _link(model: str) -> str:
    if page := _PAGES.get(model):
        return reverse(page)
    app, name = _names(model)
    return reverse(f"admin:{app}_{name}_changelist")


def _names(model: str) -> tuple[str, str]:
    app, _, name = model.rpartition(".")
    return app or "notifications", name


def _may_view(model: str) -> Callable[[HttpRequest], bool]:
    app, name = _names("providerroute" if model == "providers" else model)

    def has_permission(request: HttpRequest) -> bool:
        return model in _OPEN or request.user.has_perm(f"{app}.view_{name}")

    return has_permission
