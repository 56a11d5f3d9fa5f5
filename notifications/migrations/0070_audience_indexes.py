"""Indexes of recipients for audiences, built without a lock on writers.

Each step may run again after an interrupted migration: an index that is half built is dropped first.
"""

from __future__ import annotations

import django.contrib.postgres.indexes
import django.db.models.functions.comparison
from django.db import migrations, models

_BUILD = [
    "SET lock_timeout = 0",
    "DROP INDEX CONCURRENTLY IF EXISTS recipient_by_attribute",
    "CREATE INDEX CONCURRENTLY recipient_by_attribute ON notifications_recipient"
    " USING gin (attributes jsonb_path_ops)",
    "DROP INDEX CONCURRENTLY IF EXISTS recipient_by_zone",
    "CREATE INDEX CONCURRENTLY recipient_by_zone ON notifications_recipient"
    " (mode, (coalesce(nullif(timezone, ''), phone_timezone)), id)",
    "RESET lock_timeout",
]
_DROP = [
    "DROP INDEX CONCURRENTLY IF EXISTS recipient_by_attribute",
    "DROP INDEX CONCURRENTLY IF EXISTS recipient_by_zone",
]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("notifications", "0069_audiences")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                *(migrations.RunSQL(each, migrations.RunSQL.noop) for each in _BUILD),
                *(migrations.RunSQL(migrations.RunSQL.noop, each) for each in _DROP),
            ],
            state_operations=[
                migrations.AddIndex(
                    model_name="recipient",
                    index=django.contrib.postgres.indexes.GinIndex(
                        fields=["attributes"],
                        name="recipient_by_attribute",
                        opclasses=("jsonb_path_ops",),
                    ),
                ),
                migrations.AddIndex(
                    model_name="recipient",
                    index=models.Index(
                        models.F("mode"),
                        django.db.models.functions.comparison.Coalesce(
                            django.db.models.functions.comparison.NullIf(
                                "timezone", models.Value("")
                            ),
                            "phone_timezone",
                        ),
                        models.F("id"),
                        name="recipient_by_zone",
                    ),
                ),
            ],
        ),
    ]
