"""The archive: its tables, and functions that drop only what the archive has."""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


_FUNCTIONS = Path(__file__).with_name("archive_functions.sql")
_FORMER = Path(__file__).with_name("partition_functions.sql")
_DROP = (
    "DROP FUNCTION drop_partition(text, date), freeze_partition(text, date),"
    " partition_fingerprint(text, date), refuse_current_day(date);"
)


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0049_switched_deliveries"),
    ]

    operations = [
        migrations.CreateModel(
            name="ArchiveDay",
            fields=[
                (
                    "day",
                    models.DateField(
                        help_text="UTC day of the notifications' ids.",
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waits for open deliveries"),
                            ("exporting", "files are written and verified"),
                            ("dropping", "verified; partitions are dropped"),
                            ("archived", "in the archive only"),
                            ("not_archived", "dropped without an archive (NOTIFY_ARCHIVE_URL=off)"),
                            ("expired", "deleted from the archive"),
                        ],
                        default="exporting",
                        max_length=16,
                    ),
                ),
                (
                    "lease_token",
                    models.UUIDField(help_text="The process that works on the day.", null=True),
                ),
                (
                    "leased_until",
                    models.DateTimeField(
                        help_text="After this time another process may continue the day.", null=True
                    ),
                ),
                ("started_at", models.DateTimeField(auto_now_add=True)),
                (
                    "dropped_at",
                    models.DateTimeField(help_text="The partitions were dropped.", null=True),
                ),
                (
                    "expired_at",
                    models.DateTimeField(help_text="The files were deleted.", null=True),
                ),
                (
                    "problem",
                    models.CharField(
                        blank=True, help_text="Error of the last try.", max_length=500
                    ),
                ),
            ],
            options={
                "db_table": "archive_day",
                "ordering": ("-day",),
            },
        ),
        migrations.CreateModel(
            name="ArchiveFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "table",
                    models.CharField(
                        help_text="notification, delivery, attempt, event, or key: the key index.",
                        max_length=16,
                    ),
                ),
                (
                    "name",
                    models.CharField(help_text="Name below NOTIFY_ARCHIVE_URL.", max_length=200),
                ),
                ("rows", models.BigIntegerField()),
                ("bytes", models.BigIntegerField(help_text="Size of the file.")),
                ("sha256", models.CharField(max_length=64)),
                (
                    "fingerprint",
                    models.BigIntegerField(
                        help_text="XOR of the hashes of all rows of the partition; empty for the index.",
                        null=True,
                    ),
                ),
                (
                    "checksums",
                    models.JSONField(help_text="Column -> CRC-32 of the values that were written."),
                ),
                ("written_at", models.DateTimeField(auto_now_add=True)),
                (
                    "verified_at",
                    models.DateTimeField(
                        help_text="The file was read back and equals the database.", null=True
                    ),
                ),
            ],
            options={
                "db_table": "archive_file",
                "ordering": ("day_id", "table"),
            },
        ),
        migrations.CreateModel(
            name="ArchiveKey",
            fields=[
                ("recipient_id", models.BigIntegerField(primary_key=True, serialize=False)),
                (
                    "sealed",
                    models.BinaryField(
                        help_text="256-bit key, encrypted by NOTIFY_ENCRYPTION_KEYS.", max_length=60
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        auto_now_add=True, db_default=django.db.models.functions.datetime.Now()
                    ),
                ),
            ],
            options={
                "db_table": "archive_key",
            },
        ),
        migrations.AddIndex(
            model_name="erasurejob",
            index=models.Index(fields=["recipient_id"], name="erasure_job_by_recipient"),
        ),
        migrations.AddField(
            model_name="archivefile",
            name="day",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="files",
                to="notifications.archiveday",
            ),
        ),
        migrations.AddConstraint(
            model_name="archivefile",
            constraint=models.UniqueConstraint(
                fields=("day", "table"), name="archive_file_once_per_table"
            ),
        ),
        migrations.RunSQL(_FUNCTIONS.read_text(), _DROP + _FORMER.read_text()),
    ]
