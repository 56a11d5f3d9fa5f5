"""Roles of operators: the admin permissions of each role, and the permission for each operation.

A right is the codename of a Django permission. `migrate` creates a group for each role (`role:
auditor` ...) and resets the permissions of these groups; other groups are left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

GROUP_PREFIX: Final = "role: "
"""Of the groups that `migrate` keeps."""
APPS: Final = frozenset({"notifications", "auth", "django_celery_beat"})
"""The apps with the permissions of the roles."""

ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    "auditor": ("view_*",),
    "operator": (
        "view_*",
        *("change_deadletter", "change_delivery", "change_alert", "change_breaker"),
        *("change_schedule", "change_apikey"),
        *("add_suppression", "change_suppression"),
        *("add_recipient", "change_recipient", "add_contact", "change_contact"),
        *("add_preference", "change_preference"),
        "change_webhookendpoint",
    ),
    "editor": (
        *("view_template", "view_templatetext", "view_templateevent", "view_notificationtype"),
        *("add_template", "change_template", "delete_template", "publish_template"),
        *("add_templatetext", "change_templatetext", "delete_templatetext", "view_shortlink"),
    ),
    "owner": ("*",),
}
"""Role -> patterns of its rights."""

ACTS: Final[Mapping[str, str]] = {
    "alert.resolve": "change_alert",
    "apikey.revoke": "change_apikey",
    "apikey.rotate": "add_apikey",
    "contact.change": "change_contact",
    "deadletter.replay": "change_deadletter",
    "delivery.resolve": "change_delivery",
    "schedule.pause": "change_schedule",
    "suppression.add": "add_suppression",
    "suppression.undo": "change_suppression",
    "template.view": "view_template",
    "template.write": "change_template",
    "template.publish": "publish_template",
    "webhookendpoint.steer": "change_webhookendpoint",
    "signin.end": "change_user",
    "user.reset": "change_user",
}
"""Buttons and actions of the admin, by model and permission -> the right that they need."""


def grants(role: str, right: str) -> bool:
    """Return True if a role has a right."""
    return any(fnmatchcase(right, pattern) for pattern in ROLES[role])


def having(right: str) -> list[str]:
    """Return the roles with a permission."""
    return [role for role in ROLES if grants(role, right)]
