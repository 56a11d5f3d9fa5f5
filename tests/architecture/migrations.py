"""The migrations of the service on disk."""

from __future__ import annotations

from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

from notifications.core.store.postgres import unapplied_migrations

_APP = "notifications"


def later_operations() -> list[Operation]:
    """Return the operations of each migration after the first."""
    found = MigrationLoader(None).disk_migrations
    return [
        operation
        for (app, name), migration in found.items()
        if app == _APP and name != unapplied_migrations.FIRST
        for operation in migration.operations
    ]
