"""The change feed: the transaction id of each event, its index, and marks of instants.

The column has no default while it is added, so no partition is rewritten, and older events keep
NULL. The index is built partition by partition without a lock on writers. Each step may run again
after an interrupted migration.
"""

from __future__ import annotations

import django.db.models.functions.comparison
from django.db import migrations, models

from notifications.migrations._partition_index import build

_build_index = build(
    "event",
    "event_feed",
    "(xid, seq) WHERE xid IS NOT NULL",
    suffix="feed",
)


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
                        name="event_feed",
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
