"""Django groups of the roles in `rules.roles`; every migrate updates the groups."""

from __future__ import annotations

from django.contrib.auth.models import Group, Permission

from notifications.core.rules import roles


def keep() -> None:
    """Create missing groups, and give each group the permissions of the role."""
    Group.objects.get_or_create(name=roles.DAILY_REPORT_GROUP)
    there = list(Permission.objects.filter(content_type__app_label__in=roles.APPS))
    for role in roles.ROLES:
        group, _ = Group.objects.get_or_create(name=f"{roles.GROUP_PREFIX}{role}")
        group.permissions.set(each for each in there if roles.grants(role, each.codename))
