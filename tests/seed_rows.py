"""The rows that `migrate` makes, restored after a test that commits.

Django's `flush` truncates all tables, makes the rows of `migrate` again with 400 statements, and
loses the rows of data migrations. Here a schema of its own has a copy of the rows: a restoration
truncates the tables that have rows, and reads the copy.
"""

from __future__ import annotations

from typing import Any, Final

from django.db import connection, transaction

from notifications import clock
from notifications.store.postgres import partitions

_SCHEMA: Final = "seed_rows"


def keep() -> None:
    """Copy the rows of all tables; the database is as `migrate` has made it."""
    with connection.cursor() as running:
        running.execute(f"CREATE SCHEMA {_SCHEMA}")
        for table in _with_rows():
            running.execute(f'CREATE TABLE {_SCHEMA}."{table}" AS TABLE "{table}"')


def restore(*_test_case: Any) -> None:  # noqa: ANN401 - in place of a method of TransactionTestCase
    """Leave the kept rows alone in the database, and the partitions of the present days."""
    with transaction.atomic(), connection.cursor() as running:
        tables = ", ".join(f'"{table}"' for table in _with_rows())
        running.execute(f"TRUNCATE {tables} CASCADE")
        running.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [_SCHEMA])
        for (table,) in running.fetchall():
            running.execute(f'INSERT INTO "{table}" TABLE {_SCHEMA}."{table}"')
    partitions.ensure(clock.now().date())


def _with_rows() -> list[str]:
    """Return the tables of models that have rows."""
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    selects = [
        f"""(SELECT '{table}' FROM "{table}" LIMIT 1)"""  # noqa: S608 - names of models
        for table in tables
    ]
    with connection.cursor() as running:
        running.execute(" UNION ALL ".join(selects))
        return [table for (table,) in running.fetchall()]
