"""Add the index by which an erasure finds the webhook messages about a contact."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0003_address_keys")]

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
