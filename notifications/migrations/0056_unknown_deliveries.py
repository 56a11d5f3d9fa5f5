"""The index of deliveries with status `unknown`, which operators settle by hand.

The index is built partition by partition without a lock on writers. Each step may run again after
an interrupted migration.
"""

from __future__ import annotations

from django.db import migrations, models

from notifications.migrations._partition_index import build

_build_index = build(
    "delivery",
    "delivery_unknown",
    "(id) WHERE status = 14",
    suffix="unknown",
)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("notifications", "0055_rejected_request_name")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunPython(_build_index, migrations.RunPython.noop),
            ],
            state_operations=[
                migrations.AddIndex(
                    model_name="delivery",
                    index=models.Index(
                        condition=models.Q(("status", 14)),
                        fields=["id"],
                        name="delivery_unknown",
                    ),
                ),
            ],
        ),
    ]
