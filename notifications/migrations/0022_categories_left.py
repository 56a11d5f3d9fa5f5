from __future__ import annotations

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0021_access"),
    ]

    operations = [
        migrations.AddField(
            model_name="preference",
            name="categories_left",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=64),
                blank=True,
                db_default=[],
                default=list,
                editable=False,
                help_text="Those that the person switched off. No API key switches them on again.",
                size=None,
            ),
        ),
    ]
