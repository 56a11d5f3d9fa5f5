"""The recipients of a file that several people got, and the time that a repeated upload promises."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0008_vendor_template")]

    operations = [
        migrations.AddField(
            model_name="attachment",
            name="promised_until",
            field=models.DateTimeField(
                help_text="The answer of the last upload promises the file until then; empty after a use.",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="AttachmentRecipient",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "attachment_id",
                        "recipient_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("attachment_id", models.UUIDField()),
                ("recipient_id", models.BigIntegerField()),
            ],
            options={
                "db_table": "attachment_recipient",
                "indexes": [models.Index(fields=["recipient_id"], name="attachment_of_recipient")],
            },
        ),
        # The table is new and empty, so the lock of the referenced table is short. The recipients have no foreign key: its check would
        # lock the recipients of earlier uses after the file, and an erasure locks a recipient before the file.
        migrations.RunSQL(
            """
            ALTER TABLE attachment_recipient
                ADD FOREIGN KEY (attachment_id) REFERENCES attachment (id) ON DELETE CASCADE;
            """,
            reverse_sql=migrations.RunSQL.noop,
        ),
    ]
