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
            ("Insights", "insights", "insights"),
            ("Dead letters", "skull", "deadletter"),
            ("Alerts", "warning", "alert"),
            ("Breakers", "electrical_services", "breaker"),
            ("Switches", "pause_circle", "switch"),
            ("Workers", "conveyor_belt", "workers"),
        ),
    ),
    (
        "Messages",
        (
            ("Activity", "notifications", "activity"),
            ("Schedules", "event_repeat", "schedule"),
            ("Ordering keys", "format_list_numbered", "orderingkey"),
            ("Replay jobs", "replay", "replayjob"),
            ("Cancel jobs", "cancel", "canceljob"),
            ("Rejected requests", "block", "rejected"),
            ("Archive", "inventory_2", "archiveday"),
        ),
    ),
    (
        "Bulk jobs and audiences",
        (
            ("Bulk jobs", "campaign", "bulkjob"),
            ("Series", "conversion_path", "series"),
            ("Enrolments", "steps", "seriesenrolment"),
            ("Audiences", "group_work", "audience"),
            ("Topics", "rss_feed", "topic"),
            ("Recipient lists", "upload_file", "recipientlist"),
            ("Attributes", "label", "attribute"),
        ),
    ),
    (
        "Content",
        (
            ("Templates", "description", "template"),
            ("Template history", "history", "templateevent"),
            ("Notification types", "alt_route", "notificationtype"),
            ("Topic texts", "translate", "topictext"),
            ("Retry presets", "timer", "retrypreset"),
            ("Short links", "link", "shortlink"),
        ),
    ),
    (
        "People and producers",
        (
            ("Recipients", "person", "recipient"),
            ("Contacts", "contact_mail", "contact"),
            ("Erasures", "person_remove", "erasurejob"),
            ("Suppressions", "do_not_disturb_on", "suppression"),
            ("Producers", "dns", "producer"),
            ("API keys", "key", "apikey"),
            ("Token secrets", "vpn_key", "tokensecret"),
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
            ("Prices", "sell", "price"),
            ("Lag limits", "compress", "laglimits"),
            ("Budgets", "savings", "budget"),
            ("Costs", "payments", "costs"),
            ("SMS pumping", "sms_failed", "smsoverride"),
            ("SMS limits", "phonelink_lock", "smslimits"),
            ("Alert destinations", "notifications_active", "alertdestination"),
            ("Periodic tasks", "timer", "django_celery_beat.periodictask"),
            ("System", "memory", "system"),
            ("Sweep runs", "mop", "sweeprun"),
            ("Deploys", "rocket_launch", "deploy"),
        ),
    ),
)
"""Group -> (title, symbol, model or page); `app.model` is a model of another Django app."""

_PAGES: Final = {
    "index": "admin:index",
    "activity": "admin:notifications_activity",
    "providers": "admin:notifications_providers",
    "workers": "admin:notifications_workers",
    "costs": "admin:notifications_costs",
    "second_factor": "admin:second_factor",
    "insights": "admin:monitoring_insights",
    "system": "admin:monitoring_system",
}
"""Pages which are not the list of a model."""
_MODELS: Final = {
    "activity": "notification",
    "costs": "budget",
    "insights": "delivery",
    "providers": "providerroute",
    "system": "sweeprun",
    "workers": "delivery",
}
"""Page -> the model whose view permission opens the page."""
_OPEN: Final = frozenset({"index", "second_factor", "signin"})
"""Items visible to all operators."""


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the menu for unfold; items without view permission are hidden."""
    current = _current(request)
    groups: list[dict[str, Any]] = [
        {
            "title": group,
            "items": [
                {
                    "title": title,
                    "icon": icon,
                    "link": _link(model),
                    "active": _link(model) == current,
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


def _current(request: HttpRequest) -> str:
    """Return the link of the item to which a page belongs: the longest link above the page."""
    links = {_link(model) for _, items in _MENU for _, _, model in items}
    links.discard(reverse("admin:index"))
    above = [link for link in links if request.path.startswith(link)]
    return max(above, key=len, default=request.path)


def _link(model: str) -> str:
    if page := _PAGES.get(model):
        return reverse(page)
    app, name = _names(model)
    return reverse(f"admin:{app}_{name}_changelist")


def _names(model: str) -> tuple[str, str]:
    app, _, name = model.rpartition(".")
    return app or "notifications", name


def _may_view(model: str) -> Callable[[HttpRequest], bool]:
    app, name = _names(_MODELS.get(model, model))

    def has_permission(request: HttpRequest) -> bool:
        return model in _OPEN or request.user.has_perm(f"{app}.view_{name}")

    return has_permission
