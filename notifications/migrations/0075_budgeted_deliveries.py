"""Budgeted deliveries: the column and index of deliveries that a budget holds.

The column has no default, so no partition is rewritten. The index is built partition by partition
without a lock on writers. Each step may run again after an interrupted migration.
"""

from __future__ import annotations

from django.db import migrations, models

from notifications.migrations._partition_index import build

_build_index = build(
    "delivery",
    "delivery_budget",
    "(budget_id, priority, due_at) WHERE reason = 'budget'",
    suffix="budget",
)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ("notifications", "0074_budgets"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER TABLE delivery ADD COLUMN IF NOT EXISTS budget_id bigint",
                    "ALTER TABLE delivery DROP COLUMN IF EXISTS budget_id",
                ),
                migrations.RunPython(_build_index, migrations.RunPython.noop),
            ],
            state_operations=[
                migrations.AddField(
                    model_name="delivery",
                    name="budget_id",
                    field=models.BigIntegerField(
                        help_text="The budget of the last hold by a budget.", null=True
                    ),
                ),
                migrations.AddIndex(
                    model_name="delivery",
                    index=models.Index(
                        condition=models.Q(("reason", "budget")),
                        fields=["budget_id", "priority", "due_at"],
                        name="delivery_budget",
                    ),
                ),
            ],
        ),
    ]
