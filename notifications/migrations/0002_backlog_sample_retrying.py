"""Samples of the backlog count the deliveries that wait for a retry."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """An empty column: samples of earlier releases have no count."""

    dependencies = (("notifications", "0001_initial_2026_11_26"),)

    operations = (
        migrations.AddField(
            model_name="backlogsample",
            name="retrying",
            field=models.IntegerField(
                null=True,
                help_text="Deliveries that wait for a retry, up to 20,000; empty in samples of"
                " earlier releases.",
            ),
        ),
    )
