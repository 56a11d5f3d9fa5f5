"""The groups of the roles, as `rules.roles` has them: kept by every migrate."""

from __future__ import annotations

from django.contrib.auth.models import Group, Permission

from notifications.rules import roles


def keep() -> None:
    """Make the groups that are missing, and give each the rights of its role."""
    there = list(Permission.objects.filter(content_type__app_label__in=roles.APPS))
    for role in roles.ROLES:
        group, _ = Group.objects.get_or_create(name=f"{roles.GROUP_PREFIX}{role}")
        group.permissions.set(each for each in there if roles.grants(role, each.codename))
