"""Events get the time of the claim that they ended, and smaller indexes.

Both new indexes have equal keys, which PostgreSQL stores once for many rows: an index on the
notification replaces the primary key, whose second column came from a sequence, and an index on the
transaction replaces that on the transaction and the same sequence.

Each partition is indexed CONCURRENTLY, so writers do not wait. The last step waits for a lock of
each partition. A migration that failed can run again.
"""

from django.db import migrations, models

_NEW = {
    "event_of_notification": "(notification_id)",
    "event_of_transaction": "(xid) WHERE xid IS NOT NULL",
}
_WITHOUT = """
SELECT i.inhrelid::regclass::text, c.relname
FROM pg_inherits i
JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'event'::regclass
  AND NOT EXISTS (
      SELECT FROM pg_index x
      JOIN pg_inherits o ON o.inhrelid = x.indexrelid
      WHERE x.indrelid = i.inhrelid AND o.inhparent = %s::regclass)
ORDER BY 1
"""
"""Partitions without an index of a parent index. Partitions made meanwhile get theirs at once."""


def _add_indexes(apps, schema_editor):
    with schema_editor.connection.cursor() as running:
        for name, columns in _NEW.items():
            running.execute(f"CREATE INDEX IF NOT EXISTS {name} ON ONLY event {columns}")
            running.execute(_WITHOUT, [name])
            for part, plain in running.fetchall():
                own = f'"{plain}_{name.removeprefix("event_")}"'
                running.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {own}")  # of a failed run
                running.execute(f"CREATE INDEX CONCURRENTLY {own} ON {part} {columns}")
                running.execute(f"ALTER INDEX {name} ATTACH PARTITION {own}")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("notifications", "0011_receipt_lookup")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE event ADD COLUMN IF NOT EXISTS claimed_at timestamptz",
            reverse_sql=migrations.RunSQL.noop,
            state_operations=[
                migrations.AddField(
                    model_name="event",
                    name="claimed_at",
                    field=models.DateTimeField(
                        help_text="The time at which the delivery became sending, in the event after sending.",
                        null=True,
                    ),
                ),
            ],
        ),
        migrations.RunPython(_add_indexes, migrations.RunPython.noop),
        migrations.RunSQL(
            [
                "ALTER TABLE event DROP CONSTRAINT IF EXISTS event_pkey",
                "DROP INDEX IF EXISTS event_feed",
            ],
            reverse_sql=migrations.RunSQL.noop,
            state_operations=[
                migrations.RemoveIndex(model_name="event", name="event_feed"),
                migrations.AddIndex(
                    model_name="event",
                    index=models.Index(fields=["notification_id"], name="event_of_notification"),
                ),
                migrations.AddIndex(
                    model_name="event",
                    index=models.Index(
                        condition=models.Q(("xid__isnull", False)),
                        fields=["xid"],
                        name="event_of_transaction",
                    ),
                ),
            ],
        ),
    ]
