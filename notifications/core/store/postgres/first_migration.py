"""Tells a database whose tables were made by another first migration than this version's.

The name of the first migration ends with a hash of its files. A state of the code before release
1.0 had another first migration: its database lacks the name, and no migration leads from its tables
to the present tables. From release 1.0 on the first migration stays as it is.
A database of a later release has the name and further names, so a rollback is accepted.
"""

from __future__ import annotations

import pkgutil
from typing import Final

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from notifications.core import migrations

NAME: Final = min(each.name for each in pkgutil.iter_modules(migrations.__path__))


def is_another() -> bool:
    """Return True if the database has tables of this app, and not from this first migration.

    Raises:
        django.db.Error: the database is away.
    """
    applied = MigrationRecorder(connection).applied_migrations()
    ours = {name for app, name in applied if app == "notifications"}
    return bool(ours) and NAME not in ours
