"""Index of the open dead letters of a replay job, in the order of the replay.

It replaces the index of the foreign key. With both, PostgreSQL takes the other one just after the
start of a job, when the statistics do not know the job, and sorts the whole job for each batch.

Safe to run again: an interrupted CREATE INDEX CONCURRENTLY leaves an invalid index, which the next
run drops first.
"""

import django.db.models.deletion
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

_OF_KEY = "notifications_deadletter_replay_job_id_a406a21a"


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("notifications", "0015_inlined_address_keys")]

    operations = [
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS dead_letter_of_job", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            model_name="deadletter",
            index=models.Index(
                condition=models.Q(("replay_job__isnull", False), ("resolved_at__isnull", True)),
                fields=["replay_job", "delivery_id"],
                name="dead_letter_of_job",
            ),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    f"DROP INDEX CONCURRENTLY IF EXISTS {_OF_KEY}",
                    f"CREATE INDEX CONCURRENTLY {_OF_KEY}"
                    " ON notifications_deadletter (replay_job_id)",
                )
            ],
            state_operations=[
                migrations.AlterField(
                    model_name="deadletter",
                    name="replay_job",
                    field=models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="letters",
                        to="notifications.replayjob",
                    ),
                )
            ],
        ),
    ]
