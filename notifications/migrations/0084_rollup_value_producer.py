"""The types and templates of a day in the roll-ups know their producer."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0083_rollup_series_checked"),
    ]

    operations = [
        migrations.AddField(
            model_name="rollupvalue",
            name="producer_id",
            field=models.BigIntegerField(
                db_default=0,
                default=0,
                help_text="The first producer of the type or template; 0: unknown, or a producer.",
            ),
        ),
    ]
