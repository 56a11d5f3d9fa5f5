"""Indexes of the calendar of bulk jobs: by start, and by a date on the recipients' clocks.

Safe to run again: an interrupted CREATE INDEX CONCURRENTLY leaves an invalid index, which the next
run drops first.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("notifications", "0012_claims_without_events")]

    operations = [
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS bulk_job_by_start", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            model_name="bulkjob",
            index=models.Index(
                condition=models.Q(("send_at_local__contains", "T"), _negated=True),
                fields=["starts_at"],
                name="bulk_job_by_start",
            ),
        ),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS bulk_job_by_date", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            model_name="bulkjob",
            index=models.Index(
                condition=models.Q(("send_at_local__contains", "T")),
                fields=["send_at_local"],
                name="bulk_job_by_date",
            ),
        ),
    ]
