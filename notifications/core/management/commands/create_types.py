"""Create the notification types that a new installation begins with."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from django.core.management.base import BaseCommand

from notifications.core.models import NotificationType
from notifications.core.rules.lane import Priority

TYPES: Final = MappingProxyType({
    "OTP": (Priority.P0, "security"),
    "ORDER_CONFIRMATION": (Priority.P1, "orders"),
    "LIKE": (Priority.P2, "social"),
    "MARKETING": (Priority.P3, "marketing"),
})
"""Type -> priority, and the category that a recipient can switch off."""


class Command(BaseCommand):
    """`manage.py create_types`."""

    help = (
        "Create the notification types "
        + ", ".join(f"{name} ({priority.name})" for name, (priority, _) in TYPES.items())
        + ". A type that exists stays as it is; safe to repeat."
    )

    def handle(self, **_: object) -> None:
        """Create the missing types and name them."""
        for name, (priority, category) in TYPES.items():
            row, is_new = NotificationType.objects.get_or_create(
                name=name, defaults={"priority": priority, "category": category}
            )
            found = f"{row.name}: {Priority(row.priority).name}"
            self.stdout.write(f"{found}, created" if is_new else f"{found}, exists")
