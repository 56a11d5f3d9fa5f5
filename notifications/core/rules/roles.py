"""Roles of operators: the admin permissions of each role, and the permission for each operation.

A right is the codename of a Django permission: `view_alert`, or one of RIGHTS with a plain name.
`migrate` creates a group for each role (`role: auditor` ...) and resets the permissions of these
groups; other groups are left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

GROUP_PREFIX: Final = "role: "
"""Of the groups that `migrate` keeps."""
DAILY_REPORT_GROUP: Final = "mail: daily report"
"""Members get the daily report by e-mail; the group gives no right."""
APPS: Final = frozenset({"notifications", "auth", "django_celery_beat"})
"""The apps with the permissions of the roles."""

RIGHTS: Final[Mapping[str, tuple[str, str]]] = {
    "cancel_notification": ("notification", "May cancel notifications"),
    "export_list": ("notification", "May export lists as CSV files"),
    "hold_provider": ("providerroute", "May hold a provider"),
    "publish_template": ("template", "May publish templates"),
    "read_archive": ("archiveday", "May read the archive"),
    "replay_deadletter": ("deadletter", "May replay and discard dead letters"),
    "see_addresses": ("contact", "May see addresses"),
}
"""Right beyond Django's add, change, delete and view -> model, and name for operators."""

_TEMPLATES: Final = (
    *("view_template", "view_templatetext", "view_templateevent", "view_notificationtype"),
    *("view_shortlink", "view_brand"),
)

_AUDIENCES: Final = (
    *("view_bulkjob", "view_attribute", "view_audience", "add_audience", "change_audience"),
    *("view_topic", "view_recipientlist", "add_recipientlist"),
)
ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    "auditor": ("view_*",),
    "operator": (
        "view_*",
        *("replay_deadletter", "cancel_notification", "hold_provider"),
        *("see_addresses", "export_list", "read_archive"),
        *("change_deadletter", "change_delivery", "change_alert", "change_breaker"),
        "add_notification",
        *("add_switch", "change_switch", "add_canceljob"),
        *("change_schedule", "add_series", "change_series", "change_seriesenrolment"),
        *("change_apikey", "change_tokensecret"),
        *("add_suppression", "change_suppression"),
        *("add_smsoverride", "change_smsoverride", "delete_smsoverride"),
        *("add_recipient", "change_recipient", "add_contact", "change_contact"),
        *("add_preference", "change_preference"),
        *("change_webhookendpoint", "change_bulkjob"),
    ),
    "editor": (
        *_TEMPLATES,
        *_AUDIENCES,
        *("add_template", "change_template", "delete_template"),
        *("add_templatetext", "change_templatetext", "delete_templatetext"),
        *("add_brand", "change_brand", "delete_brand"),
        *("view_topictext", "add_topictext", "change_topictext", "delete_topictext"),
    ),
    "publisher": (*_TEMPLATES, "publish_template"),
    "campaigner": (
        *_TEMPLATES,
        *_AUDIENCES,
        *("add_bulkjob", "change_bulkjob", "view_recipient", "delete_audience"),
    ),
    "owner": ("*",),
}
"""Role -> patterns of its rights."""


def grants(role: str, right: str) -> bool:
    """Return True if a role has a right."""
    return any(fnmatchcase(right, pattern) for pattern in ROLES[role])


def permissions_of(model: str) -> tuple[tuple[str, str], ...]:
    """Return the rights of a model with their names, for `Meta.permissions`."""
    return tuple((right, name) for right, (of, name) in RIGHTS.items() if of == model)
