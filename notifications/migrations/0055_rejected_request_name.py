"""Rejected requests have a name in the singular; no table changes."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("notifications", "0054_cancel_jobs")]

    operations = [
        migrations.AlterModelOptions(
            name="rejected",
            options={"ordering": ("-id",), "verbose_name": "rejected request"},
        ),
    ]
