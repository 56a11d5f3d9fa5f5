"""Partitions of the roll-ups without producer: questions about all producers read fewer rows."""

from django.db import migrations

_TABLES = ("rollup", "rollup_latency")
_CUBES = (14, 24, 34)


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0051_backlog_samples"),
    ]

    operations = [
        migrations.RunSQL(
            f"CREATE TABLE {table}_{cube} PARTITION OF {table} FOR VALUES IN ({cube})"
            " WITH (fillfactor = 80)",
            f"DROP TABLE {table}_{cube}",
        )
        for table in _TABLES
        for cube in _CUBES
    ]
