"""Functions that make and drop partitions as the tables' owner."""

from pathlib import Path

from django.db import migrations

_FUNCTIONS = Path(__file__).with_name("partition_functions.sql")
_DROP = "DROP FUNCTION drop_partition(text, date), make_partitions(date), first_id_of(date)"


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0025_webhook_secrets"),
    ]

    operations = [
        migrations.RunSQL(_FUNCTIONS.read_text(), _DROP),
    ]
