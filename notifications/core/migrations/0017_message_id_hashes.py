"""Deliveries are found by a hash of the provider's message id in place of the id's text.

A hash of 8 bytes takes a third of the index that ids of 32 characters take. Each partition is
indexed CONCURRENTLY, so writers do not wait; a migration that failed can run again.

A process of the release before reads the index of the text. So the former index goes at once only
from a new database, to which `migrate` applied the first migration in the same run, and stays in
any other database for the processes of that release. `docs/upgrade.md` has the statement that
removes the index afterwards.
"""

import datetime as dt

from django.db import migrations, models
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import F, Q, Value
from django.db.models.functions import Now

_NAME = "delivery_by_message_hash"
_COLUMNS = "(hashtextextended(provider_message_id, 0)) WHERE provider_message_id <> ''"
_WITHOUT = """
SELECT i.inhrelid::regclass::text, c.relname
FROM pg_inherits i
JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'delivery'::regclass
  AND NOT EXISTS (
      SELECT FROM pg_index x
      JOIN pg_inherits o ON o.inhrelid = x.indexrelid
      WHERE x.indrelid = i.inhrelid AND o.inhparent = %s::regclass)
ORDER BY 1
"""
"""Partitions without the new index. Partitions made meanwhile get theirs at once."""
_FIRST = "0001_initial_099a7bc0"
_ONE_RUN = dt.timedelta(minutes=5)
"""Longest time between the two migrations of a new database."""


def _add_index(apps, schema_editor):
    with schema_editor.connection.cursor() as running:
        running.execute(f"CREATE INDEX IF NOT EXISTS {_NAME} ON ONLY delivery {_COLUMNS}")
        running.execute(_WITHOUT, [_NAME])
        for part, plain in running.fetchall():
            own = f'"{plain}_by_message_hash"'
            running.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {own}")  # of a failed run
            running.execute(f"CREATE INDEX CONCURRENTLY {own} ON {part} {_COLUMNS}")
            running.execute(f"ALTER INDEX {_NAME} ATTACH PARTITION {own}")


def _drop_former_of_new_database(apps, schema_editor):
    applied = MigrationRecorder(schema_editor.connection).migration_qs
    first = applied.filter(app="notifications", name=_FIRST, applied__gte=Now() - _ONE_RUN)
    if first.exists():
        schema_editor.execute("DROP INDEX IF EXISTS delivery_by_provider_id")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("notifications", "0016_dead_letters_of_job")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunPython(_add_index, migrations.RunPython.noop),
                migrations.RunPython(_drop_former_of_new_database, migrations.RunPython.noop),
            ],
            state_operations=[
                migrations.RemoveIndex(model_name="delivery", name="delivery_by_provider_id"),
                migrations.AddIndex(
                    model_name="delivery",
                    index=models.Index(
                        models.Func(
                            F("provider_message_id"),
                            Value(0),
                            function="hashtextextended",
                            output_field=models.BigIntegerField(),
                        ),
                        condition=Q(("provider_message_id", ""), _negated=True),
                        name=_NAME,
                    ),
                ),
            ],
        )
    ]
