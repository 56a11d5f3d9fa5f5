"""The functions that make and drop partitions, with a lower bound of the days."""

from pathlib import Path

from django.db import migrations

_FUNCTIONS = Path(__file__).with_name("partition_functions.sql")


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0027_erasure_jobs"),
    ]

    operations = [
        migrations.RunSQL(_FUNCTIONS.read_text(), migrations.RunSQL.noop),
    ]
