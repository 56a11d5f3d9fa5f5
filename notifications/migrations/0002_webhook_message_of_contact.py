"""Add the index by which an erasure finds the webhook messages about a contact."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0001_initial_8a4f798f")]

    operations = [
        migrations.AddIndex(
            model_name="webhookmessage",
            index=models.Index(
                condition=models.Q(("contact_id__isnull", False)),
                fields=["contact_id"],
                name="webhook_message_of_contact",
            ),
        ),
    ]
