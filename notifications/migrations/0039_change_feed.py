"""The change feed: the transaction id of each event, its index, and marks of instants.

The column has no default while it is added, so no partition is rewritten, and older events keep
NULL. The index is built partition by partition without a lock on writers. Each step may run again
after an interrupted migration.
"""

from __future__ import annotations

import django.db.models.functions.comparison
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_INDEX = "event_feed"
_COLUMNS = "(xid, seq) WHERE xid IS NOT NULL"


def _build_index(_: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Build the index of each partition concurrently and attach it to the parent's index."""
    with editor.connection.cursor() as running:
        # Waits for older transactions block nobody, and the role's lock_timeout would end them.
        running.execute("SET lock_timeout = 0")
        running.execute(f"CREATE INDEX IF NOT EXISTS {_INDEX} ON ONLY event {_COLUMNS}")
        running.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'event'::regclass"
        )
        for (part,) in running.fetchall():
            _build_index_of(running, part)
        running.execute("RESET lock_timeout")


def _build_index_of(running: object, part: str) -> None:
    execute = running.execute  # type: ignore[attr-defined]  # Django's cursor has no public type
    name = f"{part}_feed"
    execute(
        "SELECT count(*) FROM pg_inherits h JOIN pg_index i ON i.indexrelid = h.inhrelid"
        " WHERE h.inhparent = %s::regclass AND i.indrelid = %s::regclass",
        [_INDEX, part],
    )
    if running.fetchone()[0]:  # type: ignore[attr-defined]  # as above
        return
    execute(f"DROP INDEX IF EXISTS {name}")  # an interrupted build leaves an invalid one
    execute(f"CREATE INDEX CONCURRENTLY {name} ON {part} {_COLUMNS}")
    execute(f"ALTER INDEX {_INDEX} ATTACH PARTITION {name}")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ("notifications", "0038_type_tracking"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    [
                        "ALTER TABLE event ADD COLUMN IF NOT EXISTS xid bigint",
                        "ALTER TABLE event ALTER COLUMN xid"
                        " SET DEFAULT (pg_current_xact_id()::text::bigint)",
                    ],
                    "ALTER TABLE event DROP COLUMN IF EXISTS xid",
                ),
                migrations.RunPython(_build_index, migrations.RunPython.noop),
            ],
            state_operations=[
                migrations.AddField(
                    model_name="event",
                    name="xid",
                    field=models.BigIntegerField(
                        db_default=django.db.models.functions.comparison.Cast(
                            django.db.models.functions.comparison.Cast(
                                models.Func(function="pg_current_xact_id"), models.TextField()
                            ),
                            models.BigIntegerField(),
                        ),
                        help_text=(
                            "Transaction of the insert, for the change feed; empty in events of"
                            " earlier releases."
                        ),
                        null=True,
                    ),
                ),
                migrations.AddIndex(
                    model_name="event",
                    index=models.Index(
                        condition=models.Q(("xid__isnull", False)),
                        fields=["xid", "seq"],
                        name=_INDEX,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ChangeMark",
            fields=[
                ("at", models.DateTimeField(primary_key=True, serialize=False)),
                (
                    "xid",
                    models.BigIntegerField(
                        help_text="Oldest transaction that was open at the time."
                    ),
                ),
            ],
            options={"db_table": "change_mark"},
        ),
    ]
