"""The rows that `migrate` makes, restored after a test that commits.

Django's `flush` truncates all tables, makes the rows of `migrate` again with 400 statements, and
loses the first rows of the migration. Here a schema of its own has a copy of the rows: a
restoration deletes the rows of the tables that have any, and reads the copy of the tables that a
test has changed. A TRUNCATE makes new files for a table, its indexes and all tables that refer to
it, which takes more than ten times as long as the DELETE of a few rows.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from django.db import connection, transaction

from notifications.core import clock
from notifications.core.store.postgres import partitions

_SCHEMA: Final = "seed_rows"


def keep() -> None:
    """Copy the rows of all tables; the database is as `migrate` has made it."""
    with connection.cursor() as running:
        running.execute(f"CREATE SCHEMA {_SCHEMA}")
        for table in _with_rows():
            running.execute(f'CREATE TABLE {_SCHEMA}."{table}" AS TABLE "{table}"')
    _seeds.cache_clear()


def restore(*_test_case: Any) -> None:  # noqa: ANN401 - in place of a method of TransactionTestCase
    """Leave the kept rows alone in the database, and the partitions of the present days."""
    with transaction.atomic(), connection.cursor() as running:
        used = _with_rows()
        kept = _unchanged()
        # Whoever still writes ends first. No trigger and no foreign key is asked.
        tables = ", ".join(f'"{table}"' for table in used if table not in kept)
        if tables:
            running.execute(f"LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE")
        running.execute("SET LOCAL session_replication_role = replica")
        for table in used:
            if table not in kept:
                running.execute(f'DELETE FROM "{table}"')  # noqa: S608 - names of models
        for table in _seeds():
            if table not in kept:
                running.execute(f'INSERT INTO "{table}" TABLE {_SCHEMA}."{table}"')
    partitions.ensure(clock.now().date())


def _with_rows() -> list[str]:
    """Return the tables of models that have rows."""
    selects = [
        f"""(SELECT '{table}' FROM "{table}" LIMIT 1)"""  # noqa: S608 - names of models
        for table in _tables()
    ]
    with connection.cursor() as running:
        running.execute(" UNION ALL ".join(selects))
        return [table for (table,) in running.fetchall()]


def _unchanged() -> set[str]:
    """Return the tables whose rows are those of the copy."""
    same = [
        f"(SELECT '{table}' WHERE (SELECT {_HASH} FROM \"{table}\" t)"  # noqa: S608 - as above
        f' IS NOT DISTINCT FROM (SELECT {_HASH} FROM {_SCHEMA}."{table}" t))'
        for table in _seeds()
    ]
    with connection.cursor() as running:
        running.execute(" UNION ALL ".join(same))
        return {table for (table,) in running.fetchall()}


_HASH: Final = "(count(*), bit_xor(hash_record_extended(t, 0)))"


@functools.cache
def _tables() -> list[str]:
    return sorted(
        connection.introspection.django_table_names(only_existing=True, include_views=False)
    )


@functools.cache
def _seeds() -> list[str]:
    """Return the tables of the copy."""
    with connection.cursor() as running:
        running.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [_SCHEMA])
        return sorted(table for (table,) in running.fetchall())
