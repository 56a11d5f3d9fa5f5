"""The right `read_archive`: operators with the right search the archive."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0057_latency_sketches"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="archiveday",
            options={
                "ordering": ("-day",),
                "permissions": (("read_archive", "May read the archive"),),
            },
        ),
    ]
