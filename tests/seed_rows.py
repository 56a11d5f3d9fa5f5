"""The rows that `migrate` makes, restored after a test that commits.

Django's `flush` truncates all tables, makes the rows of `migrate` again with 400 statements, and
loses the first rows of the migration. Here a schema of its own has a copy of the rows: a
restoration deletes the rows of the tables that a test has changed, and reads the copy of them. A
TRUNCATE makes new files for a table, its indexes and all tables that refer to it, which takes more
than ten times as long as the DELETE of a few rows. A query of each table would take longer than the
rest: the restoration asks the file system which tables have pages.
"""

from __future__ import annotations

from typing import Any, Final

from django.db import connection

from notifications.core import clock
from notifications.core.store.postgres import partitions

_SCHEMA: Final = "seed_rows"
_HASH: Final = "(count(*), bit_xor(hash_record_extended(t, 0)))"
_RESTORE: Final = """
CREATE FUNCTION {schema}.restore() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    seeds CONSTANT text[] := '{{{seeds}}}';
    kept text[] := ARRAY({kept});
    used text[] := ARRAY(
        SELECT relname FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
            AND (relispartition OR relname = ANY ('{{{tables}}}')) AND relname <> ALL (kept)
            AND pg_relation_size(oid) > 0
        ORDER BY relname);
    name text;
BEGIN
    -- Whoever still writes ends first. No trigger and no foreign key is asked.
    FOREACH name IN ARRAY used LOOP
        EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', name);
    END LOOP;
    PERFORM set_config('session_replication_role', 'replica', true);
    FOREACH name IN ARRAY used LOOP
        EXECUTE format('DELETE FROM %I', name);
    END LOOP;
    FOREACH name IN ARRAY seeds LOOP
        IF name <> ALL (kept) THEN
            EXECUTE format('INSERT INTO %I TABLE {schema}.%I', name, name);
        END IF;
    END LOOP;
END $$
"""
"""seeds: the tables of the copy; kept: those whose rows are the copy's; tables: those of models."""


def keep() -> None:
    """Copy the rows of all tables; the database is as `migrate` has made it."""
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    with connection.cursor() as running:
        running.execute(
            " UNION ALL ".join(
                f"""(SELECT '{table}' FROM "{table}" LIMIT 1)"""  # noqa: S608 - names of models
                for table in tables
            )
        )
        seeds = sorted(table for (table,) in running.fetchall())
        running.execute(f"CREATE SCHEMA {_SCHEMA}")
        for table in seeds:
            running.execute(f'CREATE TABLE {_SCHEMA}."{table}" AS TABLE "{table}"')
        kept = " UNION ALL ".join(
            f"(SELECT '{table}' WHERE (SELECT {_HASH} FROM \"{table}\" t)"  # noqa: S608 - names of models
            f' IS NOT DISTINCT FROM (SELECT {_HASH} FROM {_SCHEMA}."{table}" t))'
            for table in seeds
        )
        names = {"seeds": ",".join(seeds), "tables": ",".join(tables)}
        running.execute(_RESTORE.format(schema=_SCHEMA, kept=kept, **names))


def restore(*_test_case: Any) -> None:  # noqa: ANN401 - in place of a method of TransactionTestCase
    """Leave the kept rows alone in the database, and the partitions of the present days."""
    with connection.cursor() as running:
        running.execute(f"SELECT {_SCHEMA}.restore()")
    partitions.ensure(clock.now().date())
