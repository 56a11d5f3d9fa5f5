"""Accepted calls whose receipt the vendor tells when asked."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0010_template_variants")]

    operations = [
        migrations.CreateModel(
            name="ReceiptLookup",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("delivery_id", models.UUIDField()),
                ("provider", models.CharField(max_length=32)),
                ("message_id", models.CharField(help_text="Of the provider.", max_length=500)),
                ("sent_at", models.DateTimeField(help_text="Time of the acceptance.")),
                (
                    "due_at",
                    models.DateTimeField(
                        help_text="Time of the next question; a claim moves the time."
                    ),
                ),
            ],
            options={
                "db_table": "receipt_lookup",
                "indexes": [models.Index(fields=["due_at"], name="receipt_lookup_due")],
            },
        ),
    ]
