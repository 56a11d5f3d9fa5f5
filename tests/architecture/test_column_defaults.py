"""A process of the release before can write into the tables of this release.

Django fills in a field's `default` in Python and leaves no default in the table. So an INSERT of a
process that does not know the column would fail; `db_default` is a default of the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pytest
from django.apps import apps
from django.db import connection, models
from django.db.migrations.operations import (
    AddField,
    DeleteModel,
    RemoveField,
    RenameField,
    RenameModel,
)
from django.db.migrations.operations.base import Operation
from django.db.models.expressions import Expression

from tests.architecture.migrations import later_operations

_APP: Final = "notifications"
_REMOVING: Final = (RemoveField, RenameField, RenameModel, DeleteModel)
_REMOVED: Final[dict[str, str]] = {}
"""Field that a later migration removes or renames -> why the release before does not use it."""


def _with_a_default() -> list[models.Field]:  # type: ignore[type-arg]  # of any type
    """Return the fields that a process may leave out; a primary key is always written."""
    return [
        field
        for model in apps.get_app_config(_APP).get_models()
        for field in model._meta.local_concrete_fields
        if field.has_default() and not field.null and not field.primary_key
    ]


def _faults(operations: Iterable[Operation]) -> list[str]:
    """Return the operations that break a process of the release before."""
    found = []
    for each in operations:
        if isinstance(each, AddField):
            if not (each.field.null or each.field.has_db_default() or each.field.many_to_many):
                found.append(f"{each.model_name}.{each.name} needs db_default or null=True")
        elif isinstance(each, _REMOVING) and each.describe() not in _REMOVED:
            found.append(f"{each.describe()}: first stop to use it, remove it a release later")
    return found


def test_each_field_with_a_default_has_the_same_default_in_the_table() -> None:
    assert len(_with_a_default()) > 100
    for field in _with_a_default():
        assert field.has_db_default(), f"{field}: give it db_default beside default"
        if not isinstance(field.db_default, Expression):
            assert field.db_default == field.get_default(), str(field)


@pytest.mark.django_db
def test_the_tables_have_these_defaults() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND column_default IS NOT NULL"
        )
        there = set(cursor.fetchall())
    wanted = {(field.model._meta.db_table, field.column) for field in _with_a_default()}
    assert wanted - there == set()


def test_no_later_migration_takes_the_table_from_the_release_before() -> None:
    assert list(_faults(later_operations())) == []


def test_such_a_migration_is_found() -> None:
    added = AddField("sweeprun", "failed", models.IntegerField(default=0))
    fitting = AddField("sweeprun", "failed", models.IntegerField(default=0, db_default=0))
    removed = RemoveField("sweeprun", "failed")
    assert len(_faults([added, removed])) == 2
    assert _faults([fitting]) == []
