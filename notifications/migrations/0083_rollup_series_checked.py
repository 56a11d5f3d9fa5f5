"""Housekeeping walks over the series of the roll-ups."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0082_bulk_job_secrets"),
    ]

    operations = [
        migrations.AddField(
            model_name="rollupposition",
            name="series_checked",
            field=models.IntegerField(
                db_default=0,
                default=0,
                help_text="Housekeeping has looked at the series up to this id; 0: it begins again.",
            ),
        ),
    ]
