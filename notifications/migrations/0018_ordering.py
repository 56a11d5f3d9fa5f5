from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("notifications", "0017_urgent_dead_letters")]

    operations = [
        migrations.AddField(
            model_name="orderingkey",
            name="look_at",
            field=models.DateTimeField(
                help_text="When the sweep looks for lost wake-ups; empty while nothing waits.",
                null=True,
            ),
        ),
        migrations.RunSQL(
            "UPDATE ordering_key k SET look_at = now()"
            " WHERE EXISTS (SELECT FROM ordered_delivery o WHERE o.key_id = k.id)",
            migrations.RunSQL.noop,
        ),
        migrations.RunSQL(
            "UPDATE delivery SET reason = 'ordering' WHERE status = 1 AND reason = 'order'",
            migrations.RunSQL.noop,
        ),
        migrations.AddIndex(
            model_name="orderingkey",
            index=models.Index(
                condition=Q(("look_at__isnull", False)),
                fields=["look_at"],
                name="ordering_key_look",
            ),
        ),
        migrations.AddIndex(
            model_name="orderingkey",
            index=models.Index(fields=["used_at"], name="ordering_key_used"),
        ),
        migrations.AlterField(
            model_name="orderingkey",
            name="priority",
            field=models.SmallIntegerField(
                choices=[(0, "P0"), (1, "P1"), (2, "P2"), (3, "P3")],
                help_text="That of its first notification: one lane carries all of them.",
            ),
        ),
        migrations.AlterField(
            model_name="ordereddelivery",
            name="held_since",
            field=models.DateTimeField(
                help_text="Since when something other than the ordering holds it.", null=True
            ),
        ),
    ]
