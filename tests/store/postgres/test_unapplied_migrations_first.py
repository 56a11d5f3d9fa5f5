"""A database of another version before 1.0 is refused, and nothing is changed in it."""

from __future__ import annotations

import pytest
from django.core import checks
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from notifications.core.store.postgres import unapplied_migrations

pytestmark = pytest.mark.django_db

_OTHERS = ["0001_initial", "0002_provider_routes"]


def _applied(*names: str) -> None:
    rows = MigrationRecorder(connection).migration_qs.filter(app="notifications")
    rows.delete()
    for name in names:
        MigrationRecorder(connection).record_applied("notifications", name)


def test_migrate_refuses_tables_of_another_first_migration_and_changes_nothing() -> None:
    _applied(*_OTHERS)
    before = MigrationRecorder(connection).applied_migrations().keys()
    with pytest.raises(SystemCheckError) as refused:
        call_command("migrate", skip_checks=False)
    assert "notifications.E001" in str(refused.value)
    name = connection.settings_dict["NAME"]
    assert f"`dropdb {name} && createdb {name}`" in str(refused.value)
    assert MigrationRecorder(connection).applied_migrations().keys() == before


def test_a_rollback_is_accepted_where_a_later_release_has_added_migrations() -> None:
    _applied(unapplied_migrations.FIRST, "0002_of_a_later_release")
    assert checks.run_checks(tags=[checks.Tags.database], databases=["default"]) == []


def test_a_database_without_tables_is_accepted() -> None:
    _applied()
    assert not unapplied_migrations.has_another_first()
