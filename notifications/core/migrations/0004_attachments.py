"""Attachments of e-mails: the column of notifications, and the table of uploaded files."""

import django.db.models.deletion
import notifications.core.rules.lane
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0003_room_for_updates"),
    ]

    operations = [
        migrations.AddField(
            model_name="notification",
            name="attachments",
            field=models.JSONField(
                help_text="Of the e-mail: id, name, type, size, digest and inline_id of each.",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="Attachment",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                (
                    "mode",
                    models.SmallIntegerField(
                        choices=[(1, "live"), (2, "test")],
                        db_default=notifications.core.rules.lane.Mode["LIVE"],
                        default=notifications.core.rules.lane.Mode["LIVE"],
                    ),
                ),
                ("digest", models.BinaryField(help_text="SHA-256 of the content.")),
                ("type", models.CharField(help_text="Media type.", max_length=100)),
                ("size", models.PositiveIntegerField(help_text="Bytes of the content.")),
                ("content", models.BinaryField()),
                (
                    "is_shared",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Several recipients got the file.",
                    ),
                ),
                ("kept_until", models.DateTimeField()),
                ("created_at", models.DateTimeField()),
                (
                    "producer",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="attachments",
                        to="notifications.producer",
                    ),
                ),
                (
                    "recipient",
                    models.ForeignKey(
                        db_constraint=False,
                        help_text="The only recipient who got the file; the file is erased with the recipient.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="attachments",
                        to="notifications.recipient",
                    ),
                ),
            ],
            options={
                "db_table": "attachment",
                "indexes": [models.Index(fields=["kept_until"], name="attachment_expiry")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("producer", "mode", "digest", "type"), name="attachment_content"
                    )
                ],
            },
        ),
        # The rows go with their producer and their recipient, also without the feature. The table is new and empty, so the locks
        # of the referenced tables are short. Contents are files that are compressed already.
        migrations.RunSQL(
            """
            ALTER TABLE attachment ALTER COLUMN content SET STORAGE EXTERNAL;
            ALTER TABLE attachment
                ADD FOREIGN KEY (producer_id) REFERENCES notifications_producer (id) ON DELETE CASCADE,
                ADD FOREIGN KEY (recipient_id) REFERENCES notifications_recipient (id) ON DELETE CASCADE;
            """,
            reverse_sql=migrations.RunSQL.noop,
        ),
    ]
