"""Migrations of this release that the database lacks.

`migrate` is a step of its own, so a process can start before it. Only names are compared: the
modules of the migrations are not imported. A database of a later release has further names, which
is no fault.

The name of the first migration ends with a hash of its files. A state of the code before release
1.0 had another first migration: its databases lack the name, and no migration leads from such
tables to the present tables. From release 1.0 on the first migration stays as it is.
"""

from __future__ import annotations

import functools
import importlib.util
import pkgutil
from typing import Final

from django.apps import apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from notifications.core import migrations

FIRST: Final = min(each.name for each in pkgutil.iter_modules(migrations.__path__))


def find() -> list[str]:
    """Return the migrations to apply, such as `notifications.0001_initial`, in order.

    Raises:
        django.db.Error: the database is away.
    """
    with connection.cursor() as running:
        running.execute("SELECT to_regclass('django_migrations') IS NOT NULL")
        (has_table,) = running.fetchone() or (False,)
    applied = MigrationRecorder(connection).migration_qs.values_list("app", "name")
    done = set(applied) if has_table else set()
    return [f"{app}.{name}" for app, name in sorted(_of_release() - done)]


@functools.cache
def _of_release() -> frozenset[tuple[str, str]]:
    found = []
    for config in apps.get_app_configs():
        module, _ = MigrationLoader.migrations_module(config.label)
        spec = importlib.util.find_spec(module) if module else None
        if spec is not None:
            names = pkgutil.iter_modules(spec.submodule_search_locations)
            found += [(config.label, each.name) for each in names if each.name[0] not in "_~"]
    return frozenset(found)


def has_another_first() -> bool:
    """Return True if the tables of the app come from another first migration.

    Raises:
        django.db.Error: the database is away.
    """
    applied = MigrationRecorder(connection).applied_migrations()
    ours = {name for app, name in applied if app == "notifications"}
    return bool(ours) and FIRST not in ours
